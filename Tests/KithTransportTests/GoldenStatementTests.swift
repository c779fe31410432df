import KithCrypto
import KithDocument
import Testing

@testable import KithTransport

/// Statements byte for byte: made once by another program from docs/security.md and the keys below, which are of no other
/// use. What is signed today must hold on every node for ever.
@Suite struct GoldenStatementTests {
    static let rootFile = """
        -----BEGIN PRIVATE KEY-----
        MC4CAQAwBQYDK2VwBCIEIKgAWF44+kCrEQkZuJp8ZADPo7DO8sTXCaqV77px6XsL
        -----END PRIVATE KEY-----
        -----BEGIN CERTIFICATE-----
        MIIBTjCCAQCgAwIBAgIQfn/Wv71OBUldbNILz2tKqTAFBgMrZXAwFDESMBAGA1UE
        AwwJS2l0aCBSb290MCAXDTAwMDEwMTAwMDAwMFoYDzk5OTkxMjMxMjM1OTU5WjAU
        MRIwEAYDVQQDDAlLaXRoIFJvb3QwKjAFBgMrZXADIQDtriO+rRmG43VuxcU5IsCc
        yr0RgSVzZ6fgMEde6RVMvKNmMGQwEgYDVR0TAQH/BAgwBgEB/wIBATAOBgNVHQ8B
        Af8EBAMCAYYwHQYDVR0OBBYEFDYZVGGnZUmrkJ2sByZgHjxZnD2aMB8GA1UdIwQY
        MBaAFDYZVGGnZUmrkJ2sByZgHjxZnD2aMAUGAytlcANBABcMm1ncCn2CERAtPwwG
        dzjwJzJj4NiDnOuA77St5ouXmaxFF16OIV7rkewA4SQrbLenw+4lAm9J1YULIBFi
        gwg=
        -----END CERTIFICATE-----
        """

    static let adminKey = """
        -----BEGIN PRIVATE KEY-----
        MC4CAQAwBQYDK2VwBCIEINyxvG+Q/is/8enpivzEPrNHa3//bPK7O4LoQFeF4sYZ
        -----END PRIVATE KEY-----
        """

    static let adminCertificate = """
        -----BEGIN CERTIFICATE-----
        MIIBmDCCAUqgAwIBAgIQTUFOniXllMbScujpd4tpBjAFBgMrZXAwFDESMBAGA1UE
        AwwJS2l0aCBSb290MCAXDTAwMDEwMTAwMDAwMFoYDzk5OTkxMjMxMjM1OTU5WjAV
        MRMwEQYDVQQDDApLaXRoIEFkbWluMCowBQYDK2VwAyEAs/zLqjtHAMv4c76a2Lh5
        3YnGOnV0DdCTGLtD75HUviCjga4wgaswEgYDVR0TAQH/BAgwBgEB/wIBADAOBgNV
        HQ8BAf8EBAMCAYYwHQYDVR0OBBYEFE3zKmY4eP8LAzP1SXPhV1NKMhjYMB8GA1Ud
        IwQYMBaAFDYZVGGnZUmrkJ2sByZgHjxZnD2aMEUGFGmD1cWl/ur2+q79gImjraiK
        pvFSBC0EKwECAwAAAAAAAAABey+ztzCEUuAKVpwhlMnT8KuF/CbVYrp8zCUe8yEF
        DDYwBQYDK2VwA0EATBhQF0Qu0eBajWsA9MKLF0Swr3+v7KF7zQVk38OdDMz+rXyC
        Pwxef9UnMkGqZOibXOpvrUUQh15VsKsXhjX3Dg==
        -----END CERTIFICATE-----
        """

    static let node = NodeID(bytes: (0..<32).map { UInt8($0) })!

    static let statements: [(what: String, content: StatementContent, byRoot: Bool, hex: String)] = [
        (
            "revocation by the root", .revocation(of: node), true,
            """
            4b53010100000020000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f00000000000000401e81\
            5b9df5aef41d2b2a26cacaa699de4b0fd913ffe194cb15e9fb1d6debedf7e5512f68a41aa4492ec59fa62153ea18f6a49233\
            d7da24d358a5e1dbc19d4a01
            """
        ),
        (
            "revocation by an admin", .revocation(of: node), false,
            """
            4b53010100000020000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f0000019c308201983082\
            014aa00302010202104d414e9e25e594c6d272e8e9778b6906300506032b657030143112301006035504030c094b69746820\
            526f6f743020170d3030303130313030303030305a180f39393939313233313233353935395a30153113301106035504030c\
            0a4b6974682041646d696e302a300506032b6570032100b3fccbaa3b4700cbf873be9ad8b879dd89c63a75740dd09318bb43\
            ef91d4be20a381ae3081ab30120603551d130101ff040830060101ff020100300e0603551d0f0101ff040403020186301d06\
            03551d0e041604144df32a663878ff0b0333f54973e157534a3218d8301f0603551d2304183016801436195461a76549ab90\
            9dac0726601e3c599c3d9a304506146983d5c5a5feeaf6faaefd8089a3ada88aa6f152042d042b0102030000000000000001\
            7b2fb3b7308452e00a569c2194c9d3f0ab85fc26d562ba7ccc251ef321050c36300506032b65700341004c185017442ed1e0\
            5a8d6b00f4c28b1744b0af7fafeca17bcd0564dfc39d0cccfead7c823f0c5e7fd5273241aa64e89b5cea6fad4510875e55b0\
            ab178635f70e000000402f78db1e966a72a5ebe1d5d588dc16a75738348fe3b48431d1df5859278ebb0980bd97d480e1a634\
            04f5041202a2068bd7c9d1c5cd962cea8923e410ae58bc05
            """
        ),
        (
            "policy by an admin", .policy(database: "notes", number: 7, json: Array(#"{"default":"manual"}"#.utf8)),
            false,
            """
            4b53010200000029000000056e6f7465730000000000000007000000147b2264656661756c74223a226d616e75616c227d00\
            00019c308201983082014aa00302010202104d414e9e25e594c6d272e8e9778b6906300506032b6570301431123010060355\
            04030c094b69746820526f6f743020170d3030303130313030303030305a180f39393939313233313233353935395a301531\
            13301106035504030c0a4b6974682041646d696e302a300506032b6570032100b3fccbaa3b4700cbf873be9ad8b879dd89c6\
            3a75740dd09318bb43ef91d4be20a381ae3081ab30120603551d130101ff040830060101ff020100300e0603551d0f0101ff\
            040403020186301d0603551d0e041604144df32a663878ff0b0333f54973e157534a3218d8301f0603551d23041830168014\
            36195461a76549ab909dac0726601e3c599c3d9a304506146983d5c5a5feeaf6faaefd8089a3ada88aa6f152042d042b0102\
            0300000000000000017b2fb3b7308452e00a569c2194c9d3f0ab85fc26d562ba7ccc251ef321050c36300506032b65700341\
            004c185017442ed1e05a8d6b00f4c28b1744b0af7fafeca17bcd0564dfc39d0cccfead7c823f0c5e7fd5273241aa64e89b5c\
            ea6fad4510875e55b0ab178635f70e00000040d3e4b839f5577ac566d7e85ead29dd534e0b074a60c382abf8af27390d9b16\
            b67cee6b8813e3bd73feef3fd043afcfd53a06dae51f5f6dc8f3f015722ab23007
            """
        ),
        (
            "role by an admin", .role(of: node, role: .reader, number: 2), false,
            """
            4b53010300000029000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f01000000000000000200\
            00019c308201983082014aa00302010202104d414e9e25e594c6d272e8e9778b6906300506032b6570301431123010060355\
            04030c094b69746820526f6f743020170d3030303130313030303030305a180f39393939313233313233353935395a301531\
            13301106035504030c0a4b6974682041646d696e302a300506032b6570032100b3fccbaa3b4700cbf873be9ad8b879dd89c6\
            3a75740dd09318bb43ef91d4be20a381ae3081ab30120603551d130101ff040830060101ff020100300e0603551d0f0101ff\
            040403020186301d0603551d0e041604144df32a663878ff0b0333f54973e157534a3218d8301f0603551d23041830168014\
            36195461a76549ab909dac0726601e3c599c3d9a304506146983d5c5a5feeaf6faaefd8089a3ada88aa6f152042d042b0102\
            0300000000000000017b2fb3b7308452e00a569c2194c9d3f0ab85fc26d562ba7ccc251ef321050c36300506032b65700341\
            004c185017442ed1e05a8d6b00f4c28b1744b0af7fafeca17bcd0564dfc39d0cccfead7c823f0c5e7fd5273241aa64e89b5c\
            ea6fad4510875e55b0ab178635f70e000000406cf4f429b8d28ab32d0e4f6a26c29e1d3c57b4c64d67c8ba436ac46d0eeb2f\
            227ff98d68e1692d855c368390aa0a716734f3e267d439ee13a4af61316d262802
            """
        ),
        (
            "role by the root", .role(of: node, role: .writer, number: 3), true,
            """
            4b53010300000029000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f02000000000000000300\
            000000000000407c04ffc77933d3e55746b537d763195b3f07415b12f71b6d0cde4c425dfa4db1634ef583723ab3ad093f3f\
            22a456a44dd803d972beba483af2217b037d21e906
            """
        ),
    ]

    let root: GroupRoot
    let trust: GroupTrust
    let admin: GroupAdmin

    init() throws {
        root = try IdentityFile.readRoot(Array(Self.rootFile.utf8))
        trust = GroupTrust(root: root.certificate)
        admin = try GroupAdmin(
            certificate: try Certificate(pem: Self.adminCertificate), key: try PrivateKey(pem: Self.adminKey))
    }

    @Test func `what is said today has the bytes that it had`() throws {
        for statement in Self.statements {
            let made =
                statement.byRoot
                ? try SignedStatement(statement.content, by: root)
                : try SignedStatement(statement.content, by: admin, trust: trust)
            #expect(Hex.encode(made.encoded) == statement.hex, "\(statement.what)")
        }
    }

    @Test func `what was said then is understood today`() throws {
        for statement in Self.statements {
            let read = try SignedStatement(encoded: try #require(Hex.decode(statement.hex.utf8)), trust: trust)
            #expect(read.content == statement.content, "\(statement.what)")
            #expect(read.signer == (statement.byRoot ? .root : .admin(admin.node)), "\(statement.what)")
        }
    }

    @Test func `one bit more or less and nobody has said it`() throws {
        for statement in Self.statements {
            let bytes = try #require(Hex.decode(statement.hex.utf8))
            for index in bytes.indices {
                var forged = bytes
                forged[index] ^= 1 << UInt8(index % 8)
                #expect(throws: TransportError.self, "\(statement.what), byte \(index)") {
                    try SignedStatement(encoded: forged, trust: trust)
                }
            }
        }
    }
}
