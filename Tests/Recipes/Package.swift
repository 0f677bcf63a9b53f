// swift-tools-version: 6.2
import PackageDescription

// A service with Dunlin in it, as the article "In a service" shows it, and its tests: a package of its own, because
// Dunlin resolves no other package. `make adapters` builds and runs it with the newest versions.

let dialect: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .treatAllWarnings(as: .error),
]

/// What the article shows is compiled as a new package is. Hummingbird's middleware, too, is for modules in which a
/// function without an actor leaves the caller's.
let usual: [SwiftSetting] = [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]

/// Dunlin is seen from here as any other package sees it: through its public API.
func dunlin(_ product: String) -> Target.Dependency { .product(name: product, package: "dunlin") }

let hummingbird: Target.Dependency = .product(name: "Hummingbird", package: "hummingbird")
let nioCore: Target.Dependency = .product(name: "NIOCore", package: "swift-nio")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let metrics: Target.Dependency = .product(name: "Metrics", package: "swift-metrics")
let prometheus: Target.Dependency = .product(name: "Prometheus", package: "swift-prometheus")
let lifecycle: Target.Dependency = .product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let httpTypes: Target.Dependency = .product(name: "HTTPTypes", package: "swift-http-types")
let tracing: Target.Dependency = .product(name: "Tracing", package: "swift-distributed-tracing")
let inMemoryTracing: Target.Dependency = .product(name: "InMemoryTracing", package: "swift-distributed-tracing")

let package = Package(
    name: "recipes",
    dependencies: [
        .package(
            name: "dunlin", path: "../..",
            traits: ["Logging", "Metrics", "Tracing", "ServiceLifecycle", "HTTPTypes"]),
        // The recipes read no configuration, so its package is not looked for.
        .package(url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.26.0", traits: []),
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.100.0"),
        .package(url: "https://github.com/swift-server/swift-prometheus.git", from: "2.2.0"),
        // These are the oldest that Dunlin's manifest allows; .ci/checks/manifest compares them.
        .package(url: "https://github.com/apple/swift-log.git", from: "1.14.0"),
        .package(url: "https://github.com/apple/swift-metrics.git", from: "2.5.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing.git", from: "1.3.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.6.0"),
        .package(url: "https://github.com/apple/swift-http-types.git", from: "1.6.0", traits: []),
    ],
    targets: [
        .target(
            name: "Gateway",
            dependencies: [
                dunlin("Dunlin"), dunlin("DunlinHTTPTypes"), dunlin("DunlinLogging"), dunlin("DunlinService"),
                dunlin("DunlinTracing"), hummingbird, httpTypes, logging, lifecycle, nioCore,
            ],
            path: "Gateway", swiftSettings: usual),
        .executableTarget(
            name: "HealthChecker",
            dependencies: [
                dunlin("Dunlin"), dunlin("DunlinLogging"), dunlin("DunlinMetrics"), dunlin("DunlinService"),
                dunlin("DunlinTracing"), "RecipeTracing", hummingbird, logging, metrics, prometheus, lifecycle, tracing,
            ],
            path: "HealthChecker", swiftSettings: usual),
        // Stands for the tracer of a program.
        .target(
            name: "RecipeTracing",
            dependencies: [
                tracing, inMemoryTracing,
                .product(name: "Instrumentation", package: "swift-distributed-tracing"),
            ],
            path: "Tracer", swiftSettings: dialect),
        .executableTarget(
            name: "AdapterCost",
            dependencies: [
                dunlin("Dunlin"), dunlin("DunlinLogging"), dunlin("DunlinMetrics"), dunlin("DunlinTesting"),
                dunlin("DunlinTracing"), logging, prometheus, inMemoryTracing,
                .product(name: "CoreMetrics", package: "swift-metrics"),
            ],
            path: "AdapterCost", swiftSettings: dialect),
        .testTarget(
            name: "RecipeTests",
            dependencies: [
                dunlin("Dunlin"), dunlin("DunlinTesting"), "Gateway", "HealthChecker", "RecipeTracing", hummingbird,
                httpTypes, logging,
                .product(name: "InMemoryLogging", package: "swift-log"), tracing, inMemoryTracing, lifecycle,
            ],
            path: "RecipeTests", swiftSettings: dialect),
    ]
)
