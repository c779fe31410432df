// swift-tools-version: 6.2
import PackageDescription

/// Settings of every Swift target: warnings are errors, and what a file uses it imports itself.
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("ExistentialAny"),
]

/// A C library of the system, found by pkg-config: a module map and thin inline shims, nothing else.
func system(_ name: String, pkgConfig: String? = nil, apt: String) -> Target {
    .systemLibrary(name: name, path: "Sources/System/\(name)", pkgConfig: pkgConfig, providers: [.apt([apt])])
}

func library(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: settings)
}

func command(
    _ name: String, path: String, _ dependencies: [Target.Dependency], exclude: [String] = []
) -> Target {
    .executableTarget(name: name, dependencies: dependencies, path: path, exclude: exclude, swiftSettings: settings)
}

func tests(of name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .testTarget(
        name: "\(name)Tests", dependencies: [.target(name: name), "KithTestSupport"] + dependencies,
        swiftSettings: settings)
}

let package = Package(
    name: "kith",
    platforms: [.macOS(.v15)],
    products: [
        // What an application embeds, and what its tests use besides.
        .library(name: "Kith", targets: ["Kith"]),
        .library(name: "KithTesting", targets: ["KithTesting"]),
        .executable(name: "kith", targets: ["kith"]),
        .executable(name: "kith-sim", targets: ["kith-sim"]),
        // Loaded by nodes of tests whose clock is to be wrong.
        .library(name: "KithTestClock", type: .dynamic, targets: ["KithTestClock"]),
    ],
    targets: [
        system("CSQLite", pkgConfig: "sqlite3", apt: "libsqlite3-dev"),
        // Its pkg-config file adds -D_REENTRANT, which the package manager warns of; the module map links it anyway.
        system("CDNSSD", apt: "libavahi-compat-libdnssd-dev"),
        system("COpenSSL", pkgConfig: "openssl", apt: "libssl-dev"),
        system("CMicroHTTPD", pkgConfig: "libmicrohttpd", apt: "libmicrohttpd-dev"),
        // What Glibc's module leaves out.
        system("CLibrary", apt: "libc6-dev"),
        system("CCurl", pkgConfig: "libcurl", apt: "libcurl4-openssl-dev"),

        // In the order of the layers: a target imports only what stands above it here.
        library("KithSystem", ["CLibrary"]),
        library("KithCrypto", ["COpenSSL"]),
        library("KithDocument", ["KithCrypto"]),
        library("KithMerge", ["KithDocument"]),
        library("KithQuery", ["KithDocument"]),
        library("KithCoding", ["KithDocument"]),
        library("KithQueryBuilder", ["KithCoding", "KithDocument", "KithQuery"]),
        library("KithStore", ["CSQLite", "KithCrypto", "KithDocument", "KithMerge", "KithQuery", "KithSystem"]),
        library("KithReplication", ["KithCrypto", "KithDocument"]),
        library("KithNetwork"),
        library("KithDiscovery", ["CDNSSD", "KithDocument", "KithNetwork", "KithSystem"]),
        library("KithTransport", ["COpenSSL", "KithCrypto", "KithDocument", "KithNetwork", "KithSystem"]),
        library("KithHTTPCore", ["CMicroHTTPD", "CCurl"]),
        library(
            "KithNode",
            [
                "KithCrypto", "KithDocument", "KithMerge", "KithQuery", "KithStore", "KithReplication", "KithNetwork",
                "KithDiscovery",
                "KithTransport", "KithHTTPCore", "KithSystem",
            ]),
        library(
            "Kith",
            [
                "KithCoding", "KithDocument", "KithMerge", "KithNode", "KithQuery", "KithQueryBuilder", "KithStore",
                "KithSystem", "KithTransport",
            ]),
        command(
            "kith", path: "Sources/kith-cli",
            [
                "CLibrary", "KithCrypto", "KithDiscovery", "KithDocument", "KithHTTPCore", "KithNode", "KithSystem",
                "KithTransport",
            ],
            // What is installed beside the command: units, profiles, the package.
            exclude: ["Service"]),

        .target(
            name: "KithVirtualDisk", dependencies: ["CSQLite", "KithStore", "KithSystem", "KithTestSupport"],
            path: "Simulations/KithVirtualDisk", swiftSettings: settings),
        .target(
            name: "KithCrashPoints",
            dependencies: ["CSQLite", "KithDocument", "KithStore", "KithTestSupport", "KithVirtualDisk"],
            path: "Simulations/KithCrashPoints", swiftSettings: settings),
        .target(
            name: "KithSimulation",
            dependencies: [
                "KithCrashPoints", "KithCrypto", "KithDocument", "KithMerge", "KithStore", "KithReplication",
                "KithNode",
                "KithSystem", "KithTestSupport", "KithVirtualDisk",
            ],
            path: "Simulations/KithSimulation", swiftSettings: settings),
        command("kith-sim", path: "Simulations/kith-sim", ["KithSimulation"]),
        command(
            "kith-bench", path: "Sources/kith-bench",
            [
                "CLibrary", "CSQLite", "Kith", "KithDocument", "KithQuery", "KithStore", "KithHTTPCore", "KithSystem",
            ]),

        .target(
            name: "KithTestSupport", dependencies: ["KithDocument", "KithHTTPCore", "KithSystem"],
            path: "Tests/KithTestSupport",
            swiftSettings: settings),
        .target(name: "KithTestClock", path: "Tests/Clock"),
        tests(of: "KithCrypto"),
        tests(of: "KithDocument"),
        tests(of: "KithMerge", ["KithDocument"]),
        tests(of: "KithQuery", ["KithDocument"]),
        tests(of: "KithCoding", ["KithDocument"]),
        .testTarget(
            name: "KithQueryBuilderTests",
            dependencies: ["KithCoding", "KithDocument", "KithQuery", "KithQueryBuilder", "KithTestSupport"],
            // What must not compile.
            exclude: ["Mistakes"], swiftSettings: settings),
        tests(
            of: "KithStore",
            ["CSQLite", "KithCrashPoints", "KithDocument", "KithMerge", "KithQuery", "KithSystem", "KithVirtualDisk"]),
        tests(of: "KithReplication", ["KithCrypto", "KithDocument", "KithMerge"]),
        // Runs inside a network namespace, where a test can't be itself.
        command("kith-discovery-probe", path: "Tests/LAN/Probe", ["KithDiscovery", "KithDocument", "KithNetwork"]),
        tests(of: "KithNetwork"),
        tests(of: "KithDiscovery", ["KithDocument", "KithNetwork", "kith-discovery-probe"]),
        tests(of: "KithTransport", ["KithCrypto", "KithDocument", "KithNetwork"]),
        tests(of: "KithSystem"),
        tests(of: "KithHTTPCore"),
        tests(
            of: "KithNode",
            [
                "KithDiscovery", "KithDocument", "KithHTTPCore", "KithMerge", "KithNetwork", "KithQuery",
                "KithReplication",
                "KithStore", "KithSystem", "KithVirtualDisk",
            ]),
        .testTarget(
            name: "KithCommandTests",
            dependencies: ["KithDocument", "KithHTTPCore", "KithNode", "KithTestSupport", "kith"], exclude: ["Golden"],
            swiftSettings: settings),
        library("KithTesting", ["Kith", "KithNode", "KithStore", "KithSystem", "KithVirtualDisk"]),
        tests(of: "Kith", ["KithDocument", "KithQuery", "KithQueryBuilder", "KithTesting", "kith"]),
        tests(of: "KithSimulation"),
        tests(of: "KithVirtualDisk", ["CSQLite", "KithDocument", "KithMerge", "KithStore", "KithSystem"]),
        // What is fuzzed, and its tests; `make fuzz` drives the same with libFuzzer.
        .target(
            name: "KithFuzzing",
            dependencies: [
                "KithDocument", "KithHTTPCore", "KithNode", "KithReplication", "KithTestSupport", "KithTransport",
            ],
            path: "Tests/KithFuzzing", swiftSettings: settings),
        .testTarget(
            name: "KithFuzzingTests", dependencies: ["KithFuzzing", "KithTestSupport"], exclude: ["Findings"],
            swiftSettings: settings),
        .testTarget(
            name: "KithEndToEndTests",
            dependencies: [
                "KithCrypto", "KithDocument", "KithHTTPCore", "KithNetwork", "KithNode", "KithReplication",
                "KithTransport",
                "KithTestSupport", "kith",
            ],
            swiftSettings: settings),
        // On a LAN of network namespaces; `--filter LAN` chooses it, and the suites so named of other targets.
        .testTarget(
            name: "KithLANTests", dependencies: ["KithDocument", "KithHTTPCore", "KithTestSupport", "kith"],
            swiftSettings: settings),

        // Examples: programs as an application's developer writes them, with the public library alone: of each a library of its
        // logic, and the program.
        .target(
            name: "ExampleNotes", dependencies: ["Kith"], path: "Sources/Examples/Notes", exclude: ["Program"],
            swiftSettings: settings),
        command("example-notes", path: "Sources/Examples/Notes/Program", ["ExampleNotes", "Kith"]),
        tests(of: "ExampleNotes", ["Kith", "KithTesting", "example-notes"]),
        .target(
            name: "ExampleTodo", dependencies: ["Kith"], path: "Sources/Examples/Todo", exclude: ["Program"],
            swiftSettings: settings),
        command("example-todo", path: "Sources/Examples/Todo/Program", ["ExampleTodo"]),
        tests(of: "ExampleTodo", ["Kith", "KithTesting", "example-todo"]),
        .target(
            name: "ExampleNews", dependencies: ["Kith"], path: "Sources/Examples/News", exclude: ["Program"],
            swiftSettings: settings),
        command("example-news", path: "Sources/Examples/News/Program", ["ExampleNews"]),
        tests(of: "ExampleNews", ["Kith", "KithTesting", "example-news"]),
    ]
)

// Bugs on purpose for the simulator to find (`make mutants`): every target of the product may have some.
if Context.environment["KITH_MUTANTS"] != nil {
    for target in package.targets where target.path == nil && target.type == .regular && target.name != "KithSystem" {
        if !target.dependencies.contains(where: { $0.isOfSystem }) { target.dependencies.append("KithSystem") }
    }
    for target in package.targets where target.swiftSettings != nil {
        target.swiftSettings?.append(.define("KITH_MUTANTS"))
    }
}

extension Target.Dependency {
    var isOfSystem: Bool {
        if case .byNameItem(name: "KithSystem", condition: _) = self { true } else { false }
    }
}

// The fuzzer links only where everything is built with -sanitize=fuzzer, as `make fuzz` does.
if Context.environment["KITH_FUZZ"] != nil {
    package.targets += [
        .systemLibrary(name: "CLibFuzzer", path: "Tests/Fuzz/CLibFuzzer"),
        command("kith-fuzz", path: "Tests/Fuzz/kith-fuzz", ["CLibFuzzer", "KithFuzzing"]),
    ]
}
