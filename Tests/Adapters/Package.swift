// swift-tools-version: 6.2
import Foundation
import PackageDescription

// The tests of the adapters to outside packages, against those packages: a package of its own, because Dunlin resolves
// none of them. `make adapters` runs them with the newest versions, and with the oldest that Dunlin's manifest allows
// (`DUNLIN_ADAPTERS=oldest`).

let dialect: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .treatAllWarnings(as: .error),
]

let areOldest = ProcessInfo.processInfo.environment["DUNLIN_ADAPTERS"] == "oldest"

/// An outside package in the version that is to be tested.
func outside(
    _ path: String, from oldest: Version, traits: Set<Package.Dependency.Trait> = [.defaults]
) -> Package.Dependency {
    let url = "https://github.com/\(path).git"
    return areOldest
        ? .package(url: url, exact: oldest, traits: traits) : .package(url: url, from: oldest, traits: traits)
}

/// Dunlin is seen from here as any other package sees it: through its public API.
func dunlin(_ product: String) -> Target.Dependency { .product(name: product, package: "dunlin") }

func tests(of adapter: String, _ products: (name: String, package: String)...) -> Target {
    .testTarget(
        name: "\(adapter)Tests",
        dependencies: ["Articles", dunlin("Dunlin"), dunlin("DunlinTesting"), dunlin("Dunlin\(adapter)")]
            + products.map { .product(name: $0.name, package: $0.package) },
        path: adapter, swiftSettings: dialect)
}

let package = Package(
    name: "adapters",
    dependencies: [
        .package(
            name: "dunlin", path: "../..",
            traits: ["Logging", "Metrics", "Tracing", "ServiceLifecycle", "HTTPTypes", "OpenAPI"]),
        // These are the oldest that Dunlin's manifest allows; .ci/checks/manifest compares them.
        outside("apple/swift-log", from: "1.14.0"),
        outside("apple/swift-metrics", from: "2.5.0"),
        outside("apple/swift-distributed-tracing", from: "1.3.0"),
        outside("swift-server/swift-service-lifecycle", from: "2.6.0"),
        // Each of these two has traits on by default that bring all of Foundation.
        outside("apple/swift-http-types", from: "1.6.0", traits: []),
        outside("apple/swift-openapi-runtime", from: "1.11.0", traits: []),
    ],
    targets: [
        .target(name: "Articles", path: "Articles", swiftSettings: dialect),
        tests(of: "Logging", ("Logging", "swift-log"), ("InMemoryLogging", "swift-log")),
        tests(of: "Metrics", ("Metrics", "swift-metrics"), ("MetricsTestKit", "swift-metrics")),
        tests(
            of: "Tracing", ("Tracing", "swift-distributed-tracing"), ("InMemoryTracing", "swift-distributed-tracing")),
        tests(
            of: "Service", ("ServiceLifecycle", "swift-service-lifecycle"),
            ("ServiceLifecycleTestKit", "swift-service-lifecycle"), ("UnixSignals", "swift-service-lifecycle"),
            ("Logging", "swift-log")),
        tests(of: "HTTPTypes", ("HTTPTypes", "swift-http-types")),
        tests(of: "OpenAPI", ("OpenAPIRuntime", "swift-openapi-runtime"), ("HTTPTypes", "swift-http-types")),
    ]
)
