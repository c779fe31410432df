// swift-tools-version: 6.2
import PackageDescription

// A package as somebody else has one: it knows of Kith what is public, and README's lines.
let package = Package(
    name: "Stranger",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "kith", path: "../..")],
    targets: [
        .executableTarget(
            name: "Stranger",
            dependencies: [.product(name: "Kith", package: "kith"), .product(name: "KithTesting", package: "kith")],
            swiftSettings: [
                .treatAllWarnings(as: .error), .enableUpcomingFeature("MemberImportVisibility"),
                .enableUpcomingFeature("ExistentialAny"),
            ])
    ]
)
