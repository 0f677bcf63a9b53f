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

let package = Package(
    name: "dunlin",
    products: [
        .library(name: "Dunlin", targets: ["Dunlin"]),
        .library(name: "DunlinFoundation", targets: ["DunlinFoundation"]),
        .library(name: "DunlinDisplay", targets: ["DunlinDisplay"]),
        .library(name: "DunlinXML", targets: ["DunlinXML"]),
        .library(name: "DunlinTesting", targets: ["DunlinTesting"]),
        .executable(name: "dunlin", targets: ["DunlinCLI"]),
    ],
    targets: [
        .systemLibrary(name: "CEpoll"),
        .systemLibrary(name: "CNetlink"),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .target(name: "DunlinTypes", swiftSettings: dialect + [.enableExperimentalFeature("Lifetimes")]),
        .target(name: "DunlinWire", dependencies: ["DunlinTypes"], swiftSettings: dialect),
        .target(name: "DunlinInflate", dependencies: ["CZlib", "DunlinTypes"], swiftSettings: dialect),
        .target(name: "DunlinSecure", dependencies: ["COpenSSL", "DunlinTypes"], swiftSettings: dialect),
        .target(name: "DunlinReactor", dependencies: ["CEpoll", "CNetlink", "DunlinTypes"], swiftSettings: dialect),
        .target(name: "DunlinSemantics", dependencies: ["DunlinTypes", "DunlinWire"], swiftSettings: dialect),
        .target(
            name: "DunlinTransport", dependencies: ["DunlinTypes", "DunlinWire", "DunlinReactor", "DunlinSecure"],
            swiftSettings: dialect),
        .target(
            name: "Dunlin",
            dependencies: [
                "DunlinTypes", "DunlinWire", "DunlinInflate", "DunlinSecure", "DunlinReactor", "DunlinSemantics",
                "DunlinTransport",
            ],
            swiftSettings: dialect),
        .target(name: "DunlinXML", dependencies: ["Dunlin"], swiftSettings: dialect),
        .target(name: "DunlinFoundation", dependencies: ["Dunlin"], swiftSettings: dialect),
        .target(name: "DunlinDisplay", dependencies: ["Dunlin"], swiftSettings: dialect),
        .target(
            name: "DunlinTesting",
            dependencies: [
                "CEpoll", "COpenSSL", "Dunlin", "DunlinTypes", "DunlinWire", "DunlinReactor", "DunlinTransport",
            ],
            swiftSettings: dialect),
        .executableTarget(
            name: "DunlinCLI", dependencies: ["Dunlin", "DunlinDisplay", "DunlinTesting"], swiftSettings: dialect),
        .target(
            name: "FuzzDriver", path: "Tests/FuzzDriver",
            swiftSettings: dialect + [.enableExperimentalFeature("Extern")]),
        .executableTarget(
            name: "FuzzHeads", dependencies: ["DunlinTypes", "DunlinWire", "FuzzDriver"], path: "Tests/FuzzHeads",
            swiftSettings: dialect),
        .executableTarget(
            name: "FuzzBodies", dependencies: ["DunlinTypes", "DunlinWire", "FuzzDriver"], path: "Tests/FuzzBodies",
            swiftSettings: dialect),
        .executableTarget(
            name: "FuzzRequests", dependencies: ["DunlinTypes", "DunlinWire", "FuzzDriver"],
            path: "Tests/FuzzRequests", swiftSettings: dialect),
        .executableTarget(
            name: "FuzzInflate", dependencies: ["DunlinInflate", "DunlinTypes", "FuzzDriver"],
            path: "Tests/FuzzInflate", swiftSettings: dialect),
        .executableTarget(
            name: "FuzzAddresses", dependencies: ["DunlinSemantics", "DunlinTypes", "FuzzDriver"],
            path: "Tests/FuzzAddresses", swiftSettings: dialect),
        .executableTarget(
            name: "FuzzValues", dependencies: ["DunlinSemantics", "DunlinTypes", "FuzzDriver"],
            path: "Tests/FuzzValues", swiftSettings: dialect),
        .executableTarget(
            name: "FuzzCookies", dependencies: ["DunlinSemantics", "DunlinTypes", "FuzzDriver"],
            path: "Tests/FuzzCookies", swiftSettings: dialect),
        .executableTarget(
            name: "FuzzParameters", dependencies: ["Dunlin", "FuzzDriver"], path: "Tests/FuzzParameters",
            swiftSettings: dialect),
        .executableTarget(
            name: "FuzzTLS", dependencies: ["DunlinSecure", "DunlinTypes", "FuzzDriver"], path: "Tests/FuzzTLS",
            swiftSettings: dialect),
        .executableTarget(
            name: "FuzzTrust", dependencies: ["DunlinSecure", "DunlinTypes", "FuzzDriver"], path: "Tests/FuzzTrust",
            swiftSettings: dialect),
        .executableTarget(
            name: "FuzzXML", dependencies: ["Dunlin", "DunlinXML", "FuzzDriver"], path: "Tests/FuzzXML",
            swiftSettings: dialect),
        .executableTarget(
            name: "FuzzDisplay", dependencies: ["Dunlin", "DunlinDisplay", "FuzzDriver"], path: "Tests/FuzzDisplay",
            swiftSettings: dialect),
        .executableTarget(
            name: "FuzzContent", dependencies: ["Dunlin", "FuzzDriver"], path: "Tests/FuzzContent",
            swiftSettings: dialect),
        .executableTarget(
            name: "FuzzPropertyLists", dependencies: ["Dunlin", "FuzzDriver"], path: "Tests/FuzzPropertyLists",
            swiftSettings: dialect),
        .executableTarget(
            name: "FuzzNetlink", dependencies: ["DunlinReactor", "FuzzDriver"], path: "Tests/FuzzNetlink",
            swiftSettings: dialect),
        .executableTarget(
            name: "FuzzSegments", dependencies: ["Dunlin", "DunlinSemantics", "DunlinTypes", "FuzzDriver"],
            path: "Tests/FuzzSegments", swiftSettings: dialect),
        .systemLibrary(name: "CSeccomp", path: "Tests/CSeccomp"),
        .target(name: "Children", path: "Tests/Children", swiftSettings: dialect),
        .target(
            name: "LeakChecking", dependencies: ["Dunlin", "DunlinTesting"], path: "Tests/LeakChecking",
            swiftSettings: dialect),
        .executableTarget(
            name: "Storm", dependencies: ["Dunlin", "DunlinTesting"], path: "Tests/Storm", swiftSettings: dialect),
        .executableTarget(
            name: "JournalPeer", dependencies: ["CSeccomp", "Dunlin"], path: "Tests/JournalPeer",
            swiftSettings: dialect),
        .executableTarget(
            name: "NetworkPeer", dependencies: ["Dunlin"], path: "Tests/NetworkPeer", swiftSettings: dialect),
        .testTarget(name: "DunlinTypesTests", dependencies: ["DunlinTypes"], swiftSettings: dialect),
        .testTarget(
            name: "DunlinWireTests", dependencies: ["DunlinWire", "DunlinTypes"],
            swiftSettings: dialect),
        .testTarget(
            name: "DunlinInflateTests", dependencies: ["DunlinInflate", "DunlinTypes"], swiftSettings: dialect),
        .testTarget(
            name: "DunlinSecureTests", dependencies: ["COpenSSL", "DunlinSecure", "DunlinTypes", "DunlinTesting"],
            swiftSettings: dialect),
        .testTarget(
            name: "DunlinReactorTests", dependencies: ["DunlinReactor", "DunlinTypes", "DunlinTesting"],
            swiftSettings: dialect),
        .testTarget(
            name: "DunlinSemanticsTests", dependencies: ["DunlinSemantics", "DunlinTypes"], swiftSettings: dialect),
        .testTarget(
            name: "DunlinTransportTests",
            dependencies: [
                "DunlinTransport", "DunlinReactor", "DunlinSecure", "DunlinTypes", "DunlinWire", "DunlinTesting",
            ],
            swiftSettings: dialect),
        .testTarget(
            name: "DunlinTestingTests", dependencies: ["CEpoll", "Children", "Dunlin", "DunlinTesting", "DunlinTypes"],
            swiftSettings: dialect),
        .testTarget(
            name: "DunlinTests",
            dependencies: [
                "Dunlin", "DunlinInflate", "DunlinReactor", "DunlinSecure", "DunlinTesting", "DunlinTypes",
                "DunlinWire", "LeakChecking",
            ],
            swiftSettings: dialect),
        .testTarget(
            name: "DunlinFoundationTests",
            dependencies: [
                "Dunlin", "DunlinFoundation", "DunlinReactor", "DunlinSecure", "DunlinTesting", "LeakChecking",
            ],
            swiftSettings: dialect),
        .testTarget(
            name: "DunlinDisplayTests", dependencies: ["Dunlin", "DunlinDisplay", "DunlinTesting", "LeakChecking"],
            swiftSettings: dialect),
        .testTarget(name: "DunlinXMLTests", dependencies: ["Dunlin", "DunlinXML"], swiftSettings: dialect),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "DunlinInflate", "Dunlin", "DunlinReactor", "DunlinTesting", "JournalPeer", "LeakChecking", "Children",
            ],
            swiftSettings: dialect),
        .testTarget(
            name: "RealPeerTests",
            dependencies: [
                "Dunlin", "DunlinInflate", "DunlinReactor", "DunlinTesting", "DunlinTypes", "LeakChecking",
                "NetworkPeer", "Children",
            ],
            swiftSettings: dialect),
        // Code of a program whose declarations belong to the main actor unless they say otherwise.
        .testTarget(
            name: "CallSiteTests", dependencies: ["Dunlin", "DunlinTesting"],
            swiftSettings: dialect + [.defaultIsolation(MainActor.self)]),
        .testTarget(
            name: "DunlinCLITests", dependencies: ["Dunlin", "DunlinCLI", "DunlinTesting"], swiftSettings: dialect),
    ]
)
