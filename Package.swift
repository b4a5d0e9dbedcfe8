// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "hand",
    products: [
        .library(name: "HandCore", targets: ["HandCore"])
    ],
    dependencies: [],
    targets: [
        // MARK: Core
        .target(name: "HandCore", path: "Sources/Core/HandCore"),

        // MARK: Tests
        .target(name: "HandTestSupport", dependencies: ["HandCore"], path: "Tests/HandTestSupport"),
        .testTarget(name: "HandCoreTests", dependencies: ["HandCore", "HandTestSupport"]),
    ],
    swiftLanguageModes: [.v6]
)
