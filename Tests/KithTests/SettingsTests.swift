import Kith
import KithTestSupport
import KithTesting
import Testing

private struct Window: Codable, Equatable, Sendable {
    var width: Int
    var title: String?
}

extension SettingKey where Value == Int {
    fileprivate static var fontSize: SettingKey { SettingKey("fontSize", default: 13) }
}

struct SettingsTests {
    private let database: Database

    init() throws { database = try Database.inMemory() }

    @Test func `a setting is its default until it is set, and again when it is reset`() async throws {
        #expect(try await database.setting(.fontSize) == 13)
        try await database.set(.fontSize, to: 15)
        #expect(try await database.setting(.fontSize) == 15)
        try await database.reset(SettingKey<Int>.fontSize)
        #expect(try await database.setting(.fontSize) == 13)
    }

    @Test func `values of types are settings`() async throws {
        let key = SettingKey("window", default: Window(width: 1))
        try await database.set(key, to: Window(width: 80, title: "a"))
        #expect(try await database.setting(key) == Window(width: 80, title: "a"))
        let wrong = SettingKey("window", default: 5)
        let error = await #expect(throws: KithError.self) { try await database.setting(wrong) }
        #expect(error?.code == .decoding && error?.message.contains("/window") == true)
    }

    @Test func `settings are no documents`() async throws {
        try await database.set(.fontSize, to: 15)
        let summary = try database.summary()
        #expect(summary.documents == 0 && summary.sequence == 0)
    }

    @Test func `settings are bounded, and stay as they were when one is too large`() async throws {
        try await database.set(.fontSize, to: 15)
        let large = SettingKey("large", default: "")
        let error = await #expect(throws: KithError.self) {
            try await database.set(large, to: String(repeating: "x", count: 1 << 16))
        }
        #expect(error?.code == .invalid)
        #expect(try await database.setting(.fontSize) == 15)
        #expect(try await database.setting(large) == "")
        await #expect(throws: KithError.self) { try await database.set(SettingKey("", default: 1), to: 2) }
    }

    @Test func `a setting goes with its batch`() async throws {
        await #expect(throws: KithError.self) {
            try await database.write { batch in
                try batch.set(.fontSize, to: 15)
                try batch.save(Document(id: "_"))
            }
        }
        #expect(try await database.setting(.fontSize) == 13)
    }
}
