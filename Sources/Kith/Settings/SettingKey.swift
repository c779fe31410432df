/// A setting: its name, its type, and what counts where nobody has set it.
///
///     extension SettingKey where Value == Int {
///         static let fontSize = SettingKey("fontSize", default: 13)
///     }
///     try await database.set(.fontSize, to: 15)
///     let size = try await database.setting(.fontSize)
///
/// Settings are of one database on one machine: they do not replicate. They are little data, 64 KiB in all, and no place
/// for passwords, since they stand in the file as they are. A copy of the database has them too.
public struct SettingKey<Value: Codable & Sendable>: Sendable {
    /// 1 to 128 bytes.
    public let name: String
    /// What the setting is where nobody has set it.
    public let defaultValue: Value

    /// A setting of that name; one name has one type.
    public init(_ name: String, default defaultValue: Value) {
        self.name = name
        self.defaultValue = defaultValue
    }
}
