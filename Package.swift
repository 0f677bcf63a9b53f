// swift-tools-version: 6.2
import PackageDescription

/// Every target speaks the same dialect: Swift 6, explicit existentials, internal imports, no surprise hops.
let dialect: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .treatAllWarnings(as: .error),
]

// The one experimental feature in a library: what returns a `Span`, and `@_lifetime`, need it. A compiler that has it
// for good passes the setting over. Should one refuse it, these two targets alone fail to build, and take a closure for
// each reading of bytes, as `ImageBuffer.withUnsafeBytes` does.
let spans: [SwiftSetting] = [.enableExperimentalFeature("Lifetimes")]

// libFuzzer's runner is declared in Swift, by this feature, so that there is no C of ours. The fuzzers alone need it.
let externs: [SwiftSetting] = [.enableExperimentalFeature("Extern")]

/// Each adapter to a package is a module of its own behind a trait, off by default: then no package is looked for.
let adapters: [(trait: String, module: String, why: String, product: String, package: String)] = [
    ("Logging", "DunlinLogging", "a line for each request, through swift-log", "Logging", "swift-log"),
    ("Metrics", "DunlinMetrics", "durations and counts, through swift-metrics", "CoreMetrics", "swift-metrics"),
    ("Tracing", "DunlinTracing", "a span for each exchange", "Tracing", "swift-distributed-tracing"),
    (
        "ServiceLifecycle", "DunlinService", "a session as a service of swift-service-lifecycle", "ServiceLifecycle",
        "swift-service-lifecycle"
    ),
    ("HTTPTypes", "DunlinHTTPTypes", "requests and responses of swift-http-types", "HTTPTypes", "swift-http-types"),
    (
        "OpenAPI", "DunlinOpenAPI", "a transport for clients of swift-openapi-generator", "OpenAPIRuntime",
        "swift-openapi-runtime"
    ),
]

/// The client that the article "A client in six steps" writes: a module for each step, and the tests of the sixth.
let steps = ["NotesStep1", "NotesStep2", "NotesStep3", "NotesStep4", "Notes"]

let package = Package(
    name: "dunlin",
    products: [
        .library(name: "Dunlin", targets: ["Dunlin"]),
        .library(name: "DunlinFoundation", targets: ["DunlinFoundation"]),
        .library(name: "DunlinDisplay", targets: ["DunlinDisplay"]),
        .library(name: "DunlinXML", targets: ["DunlinXML"]),
        .library(name: "DunlinImages", targets: ["DunlinImages"]),
        .library(name: "DunlinSigning", targets: ["DunlinSigning"]),
        .library(name: "DunlinResilience", targets: ["DunlinResilience"]),
        .library(name: "DunlinRecording", targets: ["DunlinRecording"]),
        .library(name: "DunlinRecordingTesting", targets: ["DunlinRecordingTesting"]),
        .library(name: "DunlinTesting", targets: ["DunlinTesting"]),
        .executable(name: "dunlin", targets: ["DunlinProgram"]),
        .executable(name: "dunlin-image", targets: ["DunlinImageCLI"]),
    ],
    traits: Set(
        adapters.map { adapter in
            .trait(
                name: adapter.trait, description: "\(adapter.module): \(adapter.why)",
                // What the runtime takes and gives is made of HTTPTypes.
                enabledTraits: adapter.trait == "OpenAPI" ? ["HTTPTypes"] : [])
        }),
    dependencies: [
        .package(url: "https://github.com/apple/swift-log.git", from: "1.14.0"),
        .package(url: "https://github.com/apple/swift-metrics.git", from: "2.5.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing.git", from: "1.3.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.6.0"),
        // Each of these two has traits on by default that bring all of Foundation.
        .package(url: "https://github.com/apple/swift-http-types.git", from: "1.6.0", traits: []),
        .package(url: "https://github.com/apple/swift-openapi-runtime.git", from: "1.11.0", traits: []),
    ],
    targets: [
        .systemLibrary(name: "CEpoll"),
        .systemLibrary(name: "CNetlink"),
        .systemLibrary(name: "CZlib"),
        .systemLibrary(name: "COpenSSL"),
        .target(name: "CPNG", linkerSettings: [.linkedLibrary("png16")]),
        .target(name: "CJPEG", linkerSettings: [.linkedLibrary("jpeg")]),
        .target(
            name: "CWebP",
            linkerSettings: [.linkedLibrary("webp"), .linkedLibrary("webpdemux")]),
        .target(name: "CGIF", linkerSettings: [.linkedLibrary("gif")]),
        .target(name: "DunlinTypes", swiftSettings: spans),
        .target(name: "DunlinWire", dependencies: ["DunlinTypes"]),
        .target(name: "DunlinInflate", dependencies: ["CZlib", "DunlinTypes"]),
        .target(name: "DunlinSecure", dependencies: ["COpenSSL", "DunlinTypes"]),
        .target(name: "DunlinReactor", dependencies: ["CEpoll", "CNetlink", "DunlinTypes"]),
        .target(name: "DunlinSemantics", dependencies: ["DunlinTypes"]),
        .target(
            name: "DunlinTransport",
            dependencies: ["DunlinTypes", "DunlinWire", "DunlinReactor", "DunlinSecure", "DunlinSemantics"]),
        .target(name: "DunlinJSON", dependencies: ["DunlinTypes", "DunlinSemantics"]),
        .target(
            name: "DunlinContent",
            dependencies: [
                "DunlinTypes", "DunlinWire", "DunlinInflate", "DunlinSecure", "DunlinReactor", "DunlinSemantics",
                "DunlinJSON",
            ]),
        .target(
            name: "DunlinCache",
            dependencies: ["DunlinTypes", "DunlinSecure", "DunlinReactor", "DunlinSemantics", "DunlinTransport"]),
        .target(name: "DunlinTrust", dependencies: ["DunlinTypes", "DunlinSecure", "DunlinSemantics"]),
        .target(name: "DunlinRules", dependencies: ["DunlinTypes", "DunlinSemantics"]),
        .target(
            name: "DunlinCurl", dependencies: ["DunlinTypes", "DunlinSemantics", "DunlinTransport", "DunlinRules"]),
        .target(name: "DunlinReachability", dependencies: ["DunlinTypes", "DunlinReactor"]),
        .target(
            name: "DunlinSession",
            dependencies: [
                "DunlinTypes", "DunlinWire", "DunlinInflate", "DunlinSecure", "DunlinReactor", "DunlinSemantics",
                "DunlinTransport", "DunlinContent", "DunlinCache", "DunlinTrust", "DunlinRules", "DunlinCurl",
                "DunlinReachability",
            ]),
        .target(
            name: "DunlinTransfers",
            dependencies: ["DunlinSecure", "DunlinReactor", "DunlinSemantics", "DunlinTransport", "DunlinSession"]),
        .target(name: "DunlinActivity", dependencies: ["DunlinReactor", "DunlinTransport", "DunlinSession"]),
        // Only what names it needs the headers of these libraries.
        .target(
            name: "DunlinCodecs", dependencies: ["CPNG", "CJPEG", "CWebP", "CGIF", "DunlinTypes"],
            swiftSettings: spans),
        .target(name: "Dunlin", dependencies: ["DunlinTransfers", "DunlinActivity"]),
        .target(name: "DunlinXML", dependencies: ["Dunlin"]),
        .target(name: "DunlinSigning", dependencies: ["Dunlin", "DunlinSemantics"]),
        .target(name: "DunlinResilience", dependencies: ["Dunlin", "DunlinTypes", "DunlinReactor", "DunlinSemantics"]),
        .target(
            name: "DunlinRecording",
            dependencies: [
                "Dunlin", "DunlinInflate", "DunlinReactor", "DunlinSemantics", "DunlinTransport", "DunlinTypes",
            ]),
        .target(name: "DunlinRecordingTesting", dependencies: ["Dunlin", "DunlinRecording"]),
        .target(name: "DunlinFoundation", dependencies: ["Dunlin", "DunlinReactor", "DunlinSecure"]),
        .target(name: "DunlinDisplay", dependencies: ["Dunlin"]),
        .target(name: "DunlinImages", dependencies: ["Dunlin", "DunlinDisplay", "DunlinCodecs", "DunlinSemantics"]),
        .target(
            name: "DunlinTesting",
            dependencies: [
                "CEpoll", "COpenSSL", "Dunlin", "DunlinTypes", "DunlinWire", "DunlinReactor", "DunlinTransport",
            ]),
        .target(name: "DunlinCommandLine", dependencies: ["Dunlin", "DunlinDisplay", "DunlinSemantics"]),
        .target(
            name: "DunlinCLI",
            dependencies: [
                "Dunlin", "DunlinCommandLine", "DunlinDisplay", "DunlinRecording", "DunlinTesting", "DunlinTransport",
            ]),
        .executableTarget(name: "DunlinProgram", dependencies: ["DunlinCLI"]),
        .executableTarget(name: "DunlinImageCLI", dependencies: ["Dunlin", "DunlinCommandLine", "DunlinImages"]),
        .systemLibrary(name: "CSeccomp", path: "Tests/CSeccomp"),
        .target(name: "Children", path: "Tests/Children"),
        .target(name: "LeakChecking", dependencies: ["Dunlin", "DunlinTesting"], path: "Tests/LeakChecking"),
        .target(name: "Folders", dependencies: ["DunlinTypes"], path: "Tests/Folders"),
        .target(name: "Screens", dependencies: ["DunlinDisplay"], path: "Tests/Screens"),
        .target(name: "TestWidth", path: "Tests/Width"),
        .target(name: "LedgerRows", path: "Tests/LedgerRows"),
        .target(name: "Mocking", dependencies: ["DunlinTesting"], path: "Tests/Mocking"),
        .executableTarget(
            name: "Storm", dependencies: ["DunlinImages", "DunlinResilience", "DunlinTesting"], path: "Tests/Storm"),
        .target(
            name: "SimulatedWorld", dependencies: ["DunlinResilience", "DunlinTypes"], path: "Tests/SimulatedWorld"),
        .executableTarget(name: "Simulation", dependencies: ["SimulatedWorld"], path: "Tests/Simulation"),
        // Each fuzzer is a file of it. It declares libFuzzer's runner, and no product has it.
        .executableTarget(
            name: "Fuzz",
            dependencies: ["DunlinCLI", "DunlinCodecs", "DunlinResilience", "DunlinXML"], path: "Tests/Fuzz",
            swiftSettings: externs),
        .executableTarget(
            name: "ImageBench", dependencies: ["DunlinCodecs", "DunlinTypes"], path: "Benchmarks/Images"),
        .executableTarget(name: "JournalPeer", dependencies: ["CSeccomp", "Dunlin"], path: "Tests/JournalPeer"),
        .executableTarget(
            name: "CachePeer",
            dependencies: [
                "Children", "DunlinCache", "DunlinReactor", "DunlinSecure", "DunlinSemantics", "DunlinTesting",
                "DunlinTypes",
            ],
            path: "Tests/CachePeer"),
        .executableTarget(name: "NetworkPeer", dependencies: ["Dunlin"], path: "Tests/NetworkPeer"),
        .testTarget(name: "DunlinTypesTests", dependencies: ["DunlinTesting", "DunlinTypes", "LedgerRows"]),
        .testTarget(name: "DunlinWireTests", dependencies: ["DunlinWire", "DunlinTypes", "LedgerRows"]),
        .testTarget(
            name: "DunlinInflateTests", dependencies: ["DunlinInflate", "DunlinTypes", "DunlinWire", "LedgerRows"]),
        .testTarget(
            name: "DunlinSecureTests",
            dependencies: ["COpenSSL", "DunlinSecure", "DunlinTypes", "DunlinTesting", "LedgerRows", "Folders"]),
        .testTarget(
            name: "DunlinReactorTests",
            dependencies: ["DunlinReactor", "DunlinTypes", "DunlinTesting", "LedgerRows", "Folders"]),
        .testTarget(
            name: "DunlinSemanticsTests",
            dependencies: ["DunlinSecure", "DunlinSemantics", "DunlinTesting", "DunlinTypes", "LedgerRows"]),
        .testTarget(
            name: "DunlinTransportTests",
            dependencies: [
                "DunlinTransport", "DunlinReactor", "DunlinSecure", "DunlinTypes", "DunlinWire", "DunlinTesting",
                "LedgerRows", "Folders",
            ]),
        .testTarget(
            name: "DunlinTestingTests",
            dependencies: [
                "CEpoll", "Children", "Dunlin", "DunlinTesting", "DunlinTypes", "DunlinWire", "Folders", "Mocking",
            ]),
        .testTarget(name: "DunlinJSONTests", dependencies: ["Dunlin", "DunlinFoundation", "DunlinJSON", "LedgerRows"]),
        .testTarget(
            name: "DunlinContentTests",
            dependencies: [
                "Dunlin", "DunlinFoundation", "DunlinContent", "DunlinSession", "DunlinTesting", "DunlinTransfers",
                "Mocking", "LedgerRows", "Folders",
            ]),
        .testTarget(
            name: "DunlinCacheTests",
            dependencies: [
                "Dunlin", "DunlinCache", "DunlinReactor", "DunlinSecure", "DunlinSemantics", "DunlinSession",
                "DunlinTesting", "DunlinTypes", "LedgerRows", "Mocking", "Folders",
            ]),
        .testTarget(name: "DunlinCodecsTests", dependencies: ["DunlinCodecs", "DunlinTypes"]),
        .testTarget(
            name: "DunlinReachabilityTests",
            dependencies: [
                "Dunlin", "DunlinReachability", "DunlinReactor", "DunlinTesting", "DunlinTransfers", "DunlinTypes",
                "LeakChecking", "LedgerRows", "Mocking",
            ]),
        .testTarget(
            name: "DunlinRulesTests", dependencies: ["DunlinRules", "DunlinSemantics", "DunlinTypes", "LedgerRows"]),
        .testTarget(
            name: "DunlinSessionTests",
            dependencies: [
                "Dunlin", "DunlinCache", "DunlinContent", "DunlinCurl", "DunlinFoundation", "DunlinInflate",
                "DunlinReactor", "DunlinRules", "DunlinSecure", "DunlinSemantics", "DunlinSession", "DunlinTesting",
                "DunlinTransfers", "DunlinTransport", "DunlinTypes", "DunlinWire", "LeakChecking", "LedgerRows",
                "Mocking", "Folders",
            ]),
        .testTarget(
            name: "DunlinTransfersTests",
            dependencies: [
                "Dunlin", "DunlinReactor", "DunlinSecure", "DunlinSemantics", "DunlinTesting", "DunlinTransfers",
                "DunlinTypes", "LeakChecking", "LedgerRows", "Mocking", "Folders",
            ]),
        .testTarget(
            name: "DunlinActivityTests",
            dependencies: ["Dunlin", "DunlinActivity", "DunlinTesting", "LeakChecking", "LedgerRows", "Mocking"]),
        .testTarget(name: "DunlinTests", dependencies: ["Dunlin"]),
        .testTarget(
            name: "DunlinFoundationTests",
            dependencies: [
                "Dunlin", "DunlinFoundation", "DunlinReactor", "DunlinSecure", "DunlinTesting", "LeakChecking",
                "LedgerRows", "Folders",
            ]),
        .testTarget(
            name: "DunlinDisplayTests",
            dependencies: ["Dunlin", "DunlinDisplay", "DunlinTesting", "LeakChecking", "LedgerRows", "Screens"]),
        .testTarget(name: "DunlinXMLTests", dependencies: ["Dunlin", "DunlinTesting", "DunlinXML", "LedgerRows"]),
        .testTarget(
            name: "DunlinSigningTests",
            dependencies: ["Dunlin", "DunlinSigning", "DunlinTesting", "Folders"]),
        .testTarget(
            name: "DunlinRecordingTests",
            dependencies: ["Dunlin", "DunlinRecording", "DunlinRecordingTesting", "DunlinTesting", "Folders"],
            exclude: ["Recordings"]),
        .testTarget(
            name: "DunlinResilienceTests",
            dependencies: [
                "Dunlin", "DunlinResilience", "DunlinTesting", "DunlinTypes", "Mocking", "SimulatedWorld",
            ]),
        .testTarget(
            name: "DunlinImageCLITests",
            dependencies: [
                "Dunlin", "DunlinCommandLine", "DunlinImageCLI", "DunlinImages", "DunlinTesting", "Folders",
            ]),
        .testTarget(
            name: "DunlinImagesTests",
            dependencies: [
                "Dunlin", "DunlinCodecs", "DunlinDisplay", "DunlinImages", "DunlinTesting", "LeakChecking",
                "LedgerRows", "Mocking", "Folders",
            ]),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "CachePeer", "DunlinCodecs", "DunlinImages", "DunlinInflate", "Dunlin", "DunlinFoundation",
                "DunlinReactor", "DunlinTesting", "DunlinTypes", "JournalPeer", "LeakChecking", "LedgerRows", "Mocking",
                "Children", "Folders",
            ]),
        .testTarget(
            name: "RealPeerTests",
            dependencies: [
                "Dunlin", "DunlinInflate", "DunlinReactor", "DunlinTesting", "DunlinTypes", "LeakChecking",
                "LedgerRows", "NetworkPeer", "Children", "Folders",
            ]),
        .testTarget(name: "TutorialTests", dependencies: ["DunlinTesting"] + steps.map { .init(stringLiteral: $0) }),
        // Code of a program whose declarations belong to the main actor unless they say otherwise.
        .testTarget(
            name: "CallSiteTests",
            dependencies: [
                "Dunlin", "DunlinDisplay", "DunlinFoundation", "DunlinRecording", "DunlinRecordingTesting",
                "DunlinResilience", "DunlinSigning", "DunlinTesting", "DunlinXML", "Folders",
            ],
            exclude: ["Recordings"],
            swiftSettings: [.defaultIsolation(MainActor.self)]),
        .testTarget(
            name: "DunlinCLITests",
            dependencies: [
                "Children", "DunlinCLI", "DunlinCommandLine", "DunlinRecording", "DunlinTesting", "Folders", "Screens",
            ]),
    ]
)

package.targets += steps.map { step in
    .target(name: step, dependencies: ["Dunlin"], path: "Tests/Tutorial/" + step)
}

for adapter in adapters {
    package.products.append(.library(name: adapter.module, targets: [adapter.module]))
    package.targets.append(
        .target(
            name: adapter.module,
            dependencies: ["Dunlin", outside(adapter.product, adapter.package, for: adapter.trait)]
                + (adapter.trait == "OpenAPI"
                    ? ["DunlinHTTPTypes", outside("HTTPTypes", "swift-http-types", for: "OpenAPI")] : [])))
}

/// A product of an outside package, which only this trait asks for.
func outside(_ product: String, _ package: String, for trait: String) -> Target.Dependency {
    .product(name: product, package: package, condition: .when(traits: [trait]))
}

// A target is compiled again when a module that it names has changed, and a type's size may change far below these: so
// a target names all that lies below it. What may be imported, .ci/imports.table says.
let named = package.targets.map { target in
    target.dependencies.compactMap { if case .byNameItem(let name, _) = $0 { name } else { nil } }
}
var below = Dictionary(uniqueKeysWithValues: zip(package.targets.map(\.name), named.map(Set.init)))
for _ in package.targets { below = below.mapValues { $0.reduce(into: $0) { $0.formUnion(below[$1] ?? []) } } }
for target in package.targets where target.type != .system {
    target.swiftSettings = dialect + (target.swiftSettings ?? [])
    // How many tests run at once is for it to say, whichever of them are built.
    if target.type == .test { below[target.name]?.insert("TestWidth") }
    let products = target.dependencies.filter { if case .productItem = $0 { true } else { false } }
    target.dependencies = (below[target.name] ?? []).sorted().map { .init(stringLiteral: $0) } + products
}

// One suite alone, as `make test FILTER=…` runs it, needs no other module of tests.
if let tests = Context.environment["DUNLIN_TESTS"]?.split(separator: " ").map(String.init) {
    package.targets.removeAll { $0.type == .test && !tests.contains($0.name) }
}
