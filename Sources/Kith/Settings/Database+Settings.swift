import KithDocument
import KithNode
import KithStore

extension Database {
    /// What a setting is, or its default where nobody has set it.
    /// - Throws: `KithError` `decoding` for one that is there and is of another type: names it, and changes nothing.
    public func setting<Value>(_ key: SettingKey<Value>) async throws -> Value {
        try await reading { try $0.setting(key) }
    }

    /// Sets a setting. On disk when this returns.
    /// - Throws: `KithError` `invalid` where all settings together would take more than 64 KiB.
    public func set<Value>(_ key: SettingKey<Value>, to value: Value) async throws {
        try await write { try $0.set(key, to: value) }
    }

    /// Forgets a setting: its default counts.
    public func reset<Value>(_ key: SettingKey<Value>) async throws { try await write { try $0.reset(key) } }
}

extension Database {
    /// The same, blocking.
    public func setting<Value>(_ key: SettingKey<Value>) throws -> Value { try reading { try $0.setting(key) } }

    /// The same, blocking.
    public func set<Value>(_ key: SettingKey<Value>, to value: Value) throws {
        try write { try $0.set(key, to: value) }
    }

    /// The same, blocking.
    public func reset<Value>(_ key: SettingKey<Value>) throws { try write { try $0.reset(key) } }
}

extension DocumentReading {
    /// What a setting is, or its default where nobody has set it.
    public func setting<Value>(_ key: SettingKey<Value>) throws(KithError) -> Value {
        guard let value = try settings()[key.name] else { return key.defaultValue }
        return try ValueCoding.value(Value.self, from: value, of: settingsID, at: "/\(key.name)")
    }

    fileprivate func settings() throws(KithError) -> JSONObject {
        let reader = try access.reader()
        let bytes = try Database.store { () throws(StoreError) in try reader.local(settingsID) }
        return bytes.flatMap { KithDocument.JSONValue(canonical: $0).object } ?? JSONObject()
    }
}

extension WriteBatch {
    /// Sets a setting, with the rest of the batch.
    public func set<Value>(_ key: SettingKey<Value>, to value: Value) throws(KithError) {
        guard !key.name.isEmpty, key.name.utf8.count <= Limits.settingNameBytes else {
            throw KithError(
                .invalid, Shown.name(key.name), "the name of a setting has 1 to \(Limits.settingNameBytes) bytes")
        }
        var settings = try settings()
        settings[key.name] = try ValueCoding.json(of: value, in: settingsID)
        try keep(settings)
    }

    /// Forgets a setting, with the rest of the batch.
    public func reset<Value>(_ key: SettingKey<Value>) throws(KithError) {
        var settings = try settings()
        settings[key.name] = nil
        try keep(settings)
    }

    private func keep(_ settings: JSONObject) throws(KithError) {
        let bytes = KithDocument.JSONValue.object(settings).canonicalBytes
        guard bytes.count <= Limits.settingsBytes else {
            throw KithError(
                .invalid, settingsID,
                "the settings would take \(bytes.count) bytes and may take \(Limits.settingsBytes): keep data in documents"
            )
        }
        try carryOut { (transaction) throws(StoreError) in try transaction.putLocal(settingsID, bytes) }
    }
}

/// The local document that holds the settings.
private let settingsID = "settings"
