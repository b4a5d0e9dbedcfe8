// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "hand",
    products: [
        // Each library includes the modules whose types its API exposes.
        .library(name: "HandCore", targets: ["HandCore"]),
        .library(name: "HandSync", targets: ["HandCore", "HandWire", "HandSync"]),
        .library(name: "HandClient", targets: ["HandCore", "HandWire", "HandSync", "HandClient"]),
        .executable(name: "hand", targets: ["hand"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.2.0"),
    ],
    targets: [
        // MARK: Core
        .target(name: "HandCore", path: "Sources/Core/HandCore"),

        // MARK: Machines
        .target(name: "HandWire", dependencies: ["HandCore"], path: "Sources/Machines/HandWire"),
        .target(name: "HandSync", dependencies: ["HandCore", "HandWire"], path: "Sources/Machines/HandSync"),

        .target(name: "HandFormats", dependencies: ["HandCore", "HandWire"], path: "Sources/Machines/HandFormats"),
        .target(
            name: "HandScreens", dependencies: ["HandCore", "HandWire", "HandSync", "HandFormats"],
            path: "Sources/Machines/HandScreens", exclude: ["README.md"]),

        // MARK: Shell
        .systemLibrary(
            name: "CLibuv", path: "Sources/Shell/CLibuv", pkgConfig: "libuv", providers: [.apt(["libuv1-dev"])]),
        .systemLibrary(name: "COpenSSL", path: "Sources/Shell/COpenSSL", providers: [.apt(["libssl-dev"])]),
        .target(name: "EventLoop", dependencies: ["CLibuv", "COpenSSL"], path: "Sources/Shell/EventLoop"),
        .systemLibrary(
            name: "CHTTPParser", path: "Sources/Shell/CHTTPParser", providers: [.apt(["libhttp-parser-dev"])]),
        .systemLibrary(
            name: "CBrotli", path: "Sources/Shell/CBrotli", pkgConfig: "libbrotlienc",
            providers: [.apt(["libbrotli-dev"])]),
        .target(name: "HTTP", dependencies: ["EventLoop", "CBrotli", "CHTTPParser"], path: "Sources/Shell/HTTP"),
        // The page is part of the program, so that a server is one file.
        .target(name: "CWeb", path: "Sources/Web/CWeb"),
        .target(
            name: "HandWeb", dependencies: ["CWeb"], path: "Sources/Web",
            exclude: ["CWeb", "client", "view", "root", "README.md", "package.json", "page.png"],
            sources: ["PageFile.swift"]),
        .systemLibrary(
            name: "CSQLite", path: "Sources/Shell/CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .target(
            name: "Disk", dependencies: ["HandCore", "HandWire", "HandSync", "CSQLite"], path: "Sources/Shell/Disk"),
        .target(name: "CLibpq", path: "Sources/Shell/CLibpq"),
        .target(
            name: "HandStore", dependencies: ["HandCore", "HandWire", "HandSync", "EventLoop", "Disk", "CLibpq"],
            path: "Sources/Shell/HandStore"),
        .target(
            name: "HandServer",
            dependencies: [
                "HandCore", "HandWire", "HandSync", "HandFormats", "EventLoop", "HTTP", "HandWeb", "Disk",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "Histogram", package: "hdrhistogram-swift"),
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Sources/Shell/HandServer"),
        .target(
            name: "HandClient",
            dependencies: ["HandCore", "HandWire", "HandSync", "HandFormats", "EventLoop", "Disk"],
            path: "Sources/Shell/HandClient"),
        .target(
            name: "HandLoad",
            dependencies: [
                "HandCore", "HandWire", "HandSync", "HandFormats", "HandClient", "EventLoop", "HTTP",
                .product(name: "Histogram", package: "hdrhistogram-swift"),
            ],
            path: "Sources/Shell/HandLoad"),
        .systemLibrary(name: "CNcurses", path: "Sources/Shell/CNcurses", providers: [.apt(["libncurses-dev"])]),
        .systemLibrary(name: "CQREncode", path: "Sources/Shell/CQREncode", providers: [.apt(["libqrencode-dev"])]),
        .target(
            name: "HandApp",
            dependencies: [
                "HandCore", "HandWire", "HandSync", "HandFormats", "HandScreens", "HandClient", "EventLoop", "Disk",
                "CNcurses", "CQREncode",
            ],
            path: "Sources/Shell/HandApp"),

        // Compiled from the headers of Debian's libtomlplusplus-dev.
        .target(name: "CTOML", path: "Sources/Shell/CTOML"),

        // MARK: Lab
        .target(
            name: "HandSimulation",
            dependencies: [
                "HandCore", "HandWire", "HandSync", .product(name: "HeapModule", package: "swift-collections"),
            ],
            path: "Sources/Lab/HandSimulation"),
        .target(
            name: "HandVectors", dependencies: ["HandCore", "HandWire", "HandSync", "HandFormats"],
            path: "Sources/Lab/HandVectors"),
        .executableTarget(
            name: "hand-lab",
            dependencies: [
                "HandCore", "HandWire", "HandSync", "HandFormats", "HandStore", "HandServer", "HandSimulation",
                "HandVectors", "EventLoop", "Disk", .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Sources/Lab/hand-lab"),

        // MARK: Tools
        .executableTarget(
            name: "hand",
            dependencies: [
                "HandCore", "HandWire", "HandSync", "HandFormats", "HandScreens", "EventLoop", "HandClient",
                "HandStore", "HandServer", "HandLoad", "HandApp", "HTTP", "Disk", "CTOML",
                .product(name: "Histogram", package: "hdrhistogram-swift"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Sources/Tools/hand"),

        // MARK: Examples
        .executableTarget(
            name: "tick-bot", dependencies: ["HandCore", "HandSync", "HandClient"], path: "Sources/Examples/TickBot",
            packageAccess: false),
        .executableTarget(
            name: "markdown-mirror", dependencies: ["HandCore", "HandSync", "HandClient"],
            path: "Sources/Examples/MarkdownMirror", packageAccess: false),
        .executableTarget(
            name: "five-cards", dependencies: ["HandCore", "HandSync", "HandClient"],
            path: "Sources/Examples/FiveCards",
            packageAccess: false),

        // MARK: Tests
        .target(
            name: "HandTestSupport", dependencies: ["HandCore", "HandWire", "HandSync"],
            path: "Tests/Support/HandTestSupport"),
        .testTarget(name: "HandCoreTests", dependencies: ["HandCore", "HandSimulation", "HandTestSupport"]),
        .testTarget(
            name: "HandSyncTests",
            dependencies: ["HandCore", "HandWire", "HandSync", "HandSimulation", "HandTestSupport"]),
        .testTarget(
            name: "HandWireTests",
            dependencies: ["HandCore", "HandWire", "HandSync", "HandSimulation", "HandTestSupport"]),
        .testTarget(
            name: "ProtocolTests",
            dependencies: [
                "HandCore", "HandWire", "HandSync", "HandFormats", "HandVectors", "HandStore", "HandServer",
                "EventLoop", "HandTestSupport", .product(name: "Logging", package: "swift-log"),
            ]),
        .testTarget(
            name: "HandScreensTests",
            dependencies: [
                "HandScreens", "HandCore", "HandWire", "HandSync", "HandFormats", "HandSimulation", "HandTestSupport",
            ],
            exclude: ["Golden"]),
        .testTarget(name: "HandSimulationTests", dependencies: ["HandSimulation", "HandTestSupport"]),
        .testTarget(name: "EventLoopTests", dependencies: ["EventLoop"]),
        .testTarget(name: "SQLiteTests", dependencies: ["Disk", "HandTestSupport"]),
        .testTarget(
            name: "TerminalTests",
            dependencies: ["HandApp", "HandScreens", "HandCore", "HandSimulation", "HandTestSupport"]),
        .testTarget(
            name: "HandFormatsTests",
            dependencies: ["HandFormats", "HandCore", "HandWire", "HandSimulation", "HandVectors", "HandTestSupport"]),
        .testTarget(name: "TLSTests", dependencies: ["EventLoop", "COpenSSL", "HandCore", "HandTestSupport"]),
        .executableTarget(name: "hand-fanout", dependencies: ["CLibuv"], path: "Tests/Programs/FanOut"),
        .executableTarget(name: "hand-yjs-load", dependencies: ["CLibuv"], path: "Tests/Programs/Peers/yjs-load"),
        .executableTarget(
            name: "hand-benchmarks",
            dependencies: [
                "HandCore", "HandWire", "HandSync", "HandFormats", "HandScreens", "EventLoop", "HandClient", "HandApp",
            ],
            path: "Tests/Programs/Benchmarks"),
        .target(
            name: "FuzzTargets",
            dependencies: [
                "HandCore", "HandWire", "HandSync", "HandFormats", "HandScreens", "HandLoad", "HandSimulation",
                "HandVectors",
            ],
            path: "Tests/Support/FuzzTargets"),
        .testTarget(
            name: "FuzzTests",
            dependencies: [
                "FuzzTargets", "HandCore", "HandWire", "HandSync", "HandFormats", "HandScreens", "HandTestSupport",
            ]),
        .testTarget(
            name: "HandLoadTests",
            dependencies: [
                "HandLoad", "HandCore", "HandWire", "HandSync", "HandStore", "HandServer", "HandSimulation",
                "HandTestSupport", "EventLoop", .product(name: "Logging", package: "swift-log"),
            ]),
        .testTarget(
            name: "HandServerTests",
            dependencies: [
                "HandServer", "HandSync", "HandWire", "HandFormats", "HandStore", "EventLoop", "HandTestSupport",
                "PostgresServer", .product(name: "Logging", package: "swift-log"),
            ]),
        .target(
            name: "Attacks", dependencies: ["HandCore", "HandWire", "HandSync", "EventLoop", "HandTestSupport"],
            path: "Tests/Support/Attacks"),
        .testTarget(
            name: "AttackTests",
            dependencies: ["Attacks", "HandCore", "HandWire", "HandSync", "HandFormats", "HandTestSupport"]),
        .testTarget(name: "ArchitectureTests"),
        // Sees the products as a program of another package does.
        .testTarget(
            name: "ProductsTests", dependencies: ["HandCore", "HandWire", "HandSync", "HandClient"],
            packageAccess: false),
        .target(name: "FaultyNetwork", dependencies: ["HandCore", "EventLoop"], path: "Tests/Support/FaultyNetwork"),
        .executableTarget(
            name: "hand-soak",
            dependencies: [
                "hand", "HandCore", "HandSync", "HandFormats", "HandClient", "HandStore", "EventLoop", "HandSimulation",
                "FaultyNetwork", "HandTestSupport", .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Tests/Programs/Soak"),
        .executableTarget(
            name: "hand-speed",
            dependencies: [
                "hand", "hand-fanout", "hand-yjs-load", "HandCore", "HandWire", "HandSync", "HandStore", "HandLoad",
                "EventLoop", "HandTestSupport", "Attacks", "HandClient", "HandFormats", "HandServer", "PostgresServer",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Tests/Programs/Speed"),
        .testTarget(
            name: "DiskTests",
            dependencies: [
                "HandCore", "HandWire", "HandSync", "HandFormats", "HandClient", "HandStore", "HandSimulation",
                "HandTestSupport", "Disk",
            ]),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "HandCore", "HandWire", "HandSync", "HandFormats", "HandClient", "HandStore", "HandScreens", "HandApp",
                "EventLoop", "HTTP", "HandWeb", "HandSimulation", "HandTestSupport", "FaultyNetwork", "PostgresServer",
                "Disk",
            ]),
        .target(name: "PostgresServer", path: "Tests/Support/PostgresServer"),
        .testTarget(
            name: "HandStoreTests",
            dependencies: [
                "HandCore", "HandWire", "HandSync", "HandClient", "HandStore", "EventLoop", "HandSimulation",
                "HandTestSupport", "PostgresServer", "FaultyNetwork", "Disk",
            ]),
    ],
    swiftLanguageModes: [.v6],
    cLanguageStandard: .gnu2x,
    cxxLanguageStandard: .cxx17
)

// The tests' own code takes little time to run, and minutes to optimize. A separate job for a target's interface would
// check all types twice.
for target in package.targets where target.type == .test {
    target.swiftSettings = [.unsafeFlags(["-Onone", "-no-emit-module-separately-wmo"], .when(configuration: .release))]
}

// Builds need no documentation.
if Context.environment["HAND_DOCS"] != nil {
    package.dependencies.append(.package(url: "https://github.com/swiftlang/swift-docc-plugin", from: "1.4.5"))
}

// The fuzzer links only with its own flags (`.ci/fuzz`), so ordinary builds do not include it.
if Context.environment["HAND_FUZZ"] != nil {
    package.targets += [
        .systemLibrary(name: "CLibFuzzer", path: "Tests/Programs/Fuzz/CLibFuzzer"),
        .executableTarget(
            name: "hand-fuzz", dependencies: ["FuzzTargets", "CLibFuzzer"], path: "Tests/Programs/Fuzz",
            exclude: ["CLibFuzzer"]),
    ]
}
