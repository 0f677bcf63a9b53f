// swift-tools-version: 6.2
import PackageDescription

// What the article "In a service" shows for Vapor, and its tests: a package of its own, because nothing else needs
// Vapor and the packages that it is made of. `make adapters` builds and runs it with the newest versions.

let package = Package(
    name: "vapor-app",
    dependencies: [
        .package(name: "dunlin", path: "../.."),
        .package(url: "https://github.com/vapor/vapor.git", from: "4.121.0"),
    ],
    targets: [
        // As a new package is compiled.
        .target(
            name: "App",
            dependencies: [
                .product(name: "Dunlin", package: "dunlin"), .product(name: "Vapor", package: "vapor"),
            ],
            path: "App", swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]),
        .testTarget(
            name: "AppTests",
            dependencies: [
                "App", .product(name: "Dunlin", package: "dunlin"), .product(name: "DunlinTesting", package: "dunlin"),
                .product(name: "Vapor", package: "vapor"),
            ],
            path: "AppTests", swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]),
    ]
)
