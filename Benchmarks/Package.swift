// swift-tools-version: 6.2
import PackageDescription

let dialect: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .treatAllWarnings(as: .error),
]

/// Dunlin is seen from here as any other package sees it: through its public API.
let dunlin: Target.Dependency = .product(name: "Dunlin", package: "dunlin")

let package = Package(
    name: "benchmarks",
    dependencies: [.package(name: "dunlin", path: "..")],
    targets: [
        .systemLibrary(name: "CMalloc"),
        .target(name: "BenchmarkLoad", dependencies: ["CMalloc"], swiftSettings: dialect),
        .target(
            name: "DunlinLoad",
            dependencies: ["BenchmarkLoad", dunlin, .product(name: "DunlinResilience", package: "dunlin")],
            swiftSettings: dialect),
        .executableTarget(
            name: "DunlinClient", dependencies: ["BenchmarkLoad", "DunlinLoad", dunlin], swiftSettings: dialect),
        .executableTarget(
            name: "DunlinFastClient", dependencies: ["BenchmarkLoad", "DunlinLoad", dunlin], swiftSettings: dialect),
        .executableTarget(name: "DunlinTripClient", dependencies: ["BenchmarkLoad", dunlin], swiftSettings: dialect),
        .executableTarget(
            name: "ProxyPeer", dependencies: [.product(name: "DunlinTesting", package: "dunlin")],
            swiftSettings: dialect),
        .executableTarget(name: "Hello", dependencies: [dunlin], swiftSettings: dialect),
        .executableTarget(name: "JSONCodec", dependencies: ["BenchmarkLoad", dunlin], swiftSettings: dialect),
        .executableTarget(name: "URLSessionClient", dependencies: ["BenchmarkLoad"], swiftSettings: dialect),
    ]
)
