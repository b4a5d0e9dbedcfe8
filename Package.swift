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
        .package(url: "https://github.com/LebJe/TOMLKit", from: "0.6.0"),
        .package(url: "https://github.com/swiftlang/swift-docc-plugin", from: "1.4.5"),
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
        .target(name: "HandScript", dependencies: ["HandCore"], path: "Sources/Machines/HandScript"),

        // MARK: Shell
        .systemLibrary(
            name: "CLibuv", path: "Sources/Shell/CLibuv", pkgConfig: "libuv", providers: [.apt(["libuv1-dev"])]),
        .target(name: "EventLoop", dependencies: ["CLibuv"], path: "Sources/Shell/EventLoop"),
        .target(name: "Files", path: "Sources/Shell/Files"),
        .systemLibrary(name: "COpenSSL", path: "Sources/Shell/COpenSSL", providers: [.apt(["libssl-dev"])]),
        .target(name: "TLS", dependencies: ["COpenSSL", "EventLoop"], path: "Sources/Shell/TLS"),
        .target(name: "HTTP", dependencies: ["EventLoop"], path: "Sources/Shell/HTTP"),
        .target(name: "CLibpq", path: "Sources/Shell/CLibpq"),
        .target(name: "Postgres", dependencies: ["CLibpq", "Files"], path: "Sources/Shell/Postgres"),
        .systemLibrary(
            name: "CSQLite", path: "Sources/Shell/CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .target(name: "SQLite", dependencies: ["CSQLite"], path: "Sources/Shell/SQLite"),
        .target(
            name: "StoreFiles", dependencies: ["HandCore", "HandWire", "HandSync", "Files", "SQLite"],
            path: "Sources/Shell/StoreFiles"),
        .target(
            name: "HandJournal", dependencies: ["HandCore", "HandWire", "HandSync", "Files", "SQLite", "StoreFiles"],
            path: "Sources/Shell/HandJournal"),
        .target(
            name: "HandStore",
            dependencies: [
                "HandCore", "HandWire", "HandSync", "EventLoop", "Files", "TLS", "Postgres", "SQLite", "StoreFiles",
            ],
            path: "Sources/Shell/HandStore"),
        .target(
            name: "HandServer",
            dependencies: [
                "HandCore", "HandWire", "HandSync", "HandFormats", "EventLoop", "Files", "TLS", "HTTP",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "Histogram", package: "hdrhistogram-swift"),
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Sources/Shell/HandServer"),
        .target(
            name: "HandClient",
            dependencies: ["HandCore", "HandWire", "HandSync", "HandFormats", "EventLoop", "HandJournal", "TLS"],
            path: "Sources/Shell/HandClient"),
        .target(
            name: "HandLoad",
            dependencies: [
                "HandCore", "HandWire", "HandSync", "HandFormats", "HandScript", "HandClient", "EventLoop", "TLS",
                "HTTP",
                .product(name: "Histogram", package: "hdrhistogram-swift"),
            ],
            path: "Sources/Shell/HandLoad"),
        .systemLibrary(name: "CNcurses", path: "Sources/Shell/CNcurses", providers: [.apt(["libncurses-dev"])]),
        .target(
            name: "Terminal", dependencies: ["CNcurses", "EventLoop", "HandScreens"], path: "Sources/Shell/Terminal"),
        .target(
            name: "HandApp",
            dependencies: [
                "HandCore", "HandWire", "HandSync", "HandFormats", "HandScreens", "HandClient", "EventLoop", "Files",
            ],
            path: "Sources/Shell/HandApp"),

        // MARK: Lab
        .target(
            name: "HandSimulation",
            dependencies: [
                "HandCore", "HandWire", "HandSync", .product(name: "HeapModule", package: "swift-collections"),
            ],
            path: "Sources/Lab/HandSimulation"),
        .target(
            name: "HandVectors", dependencies: ["HandCore", "HandWire", "HandFormats"],
            path: "Sources/Lab/HandVectors"),
        .executableTarget(
            name: "hand-lab",
            dependencies: [
                "HandCore", "HandWire", "HandSync", "HandFormats", "HandStore", "HandServer", "HandSimulation",
                "HandVectors",
                "EventLoop", "Files", "SQLite",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Sources/Lab/hand-lab"),

        // MARK: Tools
        .executableTarget(
            name: "hand",
            dependencies: [
                "HandCore", "HandWire", "HandSync", "HandFormats", "HandScreens", "EventLoop", "HandJournal",
                "HandStore",
                "HandServer", "HandScript", "HandLoad",
                "HandClient", "HandApp", "Terminal", "TLS", "HTTP", "Files",
                .product(name: "Histogram", package: "hdrhistogram-swift"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "TOMLKit", package: "TOMLKit"),
            ],
            path: "Sources/Tools/hand",
            // A package that mentions Foundation would otherwise lend its members to every file, and link all of it.
            swiftSettings: [.enableUpcomingFeature("MemberImportVisibility")]),

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
            dependencies: ["HandCore", "HandWire", "HandSync", "HandFormats", "HandVectors", "HandTestSupport"]),
        .testTarget(
            name: "HandScreensTests",
            dependencies: [
                "HandScreens", "HandCore", "HandWire", "HandSync", "HandFormats", "HandSimulation", "HandTestSupport",
            ],
            exclude: ["Golden"]),
        .testTarget(name: "HandSimulationTests", dependencies: ["HandSimulation", "HandTestSupport"]),
        .testTarget(name: "EventLoopTests", dependencies: ["EventLoop"]),
        .testTarget(name: "SQLiteTests", dependencies: ["SQLite", "HandTestSupport"]),
        .testTarget(
            name: "TerminalTests",
            dependencies: ["Terminal", "HandScreens", "HandCore", "HandSimulation", "HandTestSupport"]),
        .testTarget(
            name: "HandFormatsTests",
            dependencies: ["HandFormats", "HandCore", "HandWire", "HandSimulation", "HandVectors", "HandTestSupport"]),
        .testTarget(name: "TLSTests", dependencies: ["TLS", "COpenSSL", "EventLoop", "HandCore", "HandTestSupport"]),
        .executableTarget(name: "hand-fanout", dependencies: ["CLibuv"], path: "Tests/Programs/FanOut"),
        .executableTarget(name: "hand-yjs-load", dependencies: ["CLibuv"], path: "Tests/Programs/Peers/yjs-load"),
        .executableTarget(
            name: "hand-benchmarks",
            dependencies: ["HandCore", "HandWire", "HandSync", "HandScreens", "EventLoop", "Terminal"],
            path: "Tests/Programs/Benchmarks"),
        .target(
            name: "FuzzTargets",
            dependencies: [
                "HandCore", "HandWire", "HandSync", "HandFormats", "HandScreens", "HandScript", "HandSimulation",
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
                "HandScript", "HandLoad", "HandCore", "HandWire", "HandSync", "HandStore", "HandServer",
                "HandSimulation",
                "HandTestSupport", "EventLoop",
                .product(name: "Logging", package: "swift-log"),
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
            dependencies: ["hand", "Attacks", "HandCore", "HandWire", "HandSync", "HandFormats", "HandTestSupport"]),
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
                "EventLoop", "TLS", "HandTestSupport", "Attacks", "HandClient", "HandFormats", "HandServer",
                "PostgresServer",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Tests/Programs/Speed"),
        .testTarget(
            name: "DiskTests",
            dependencies: [
                "hand", "HandCore", "HandWire", "HandSync", "HandFormats", "HandClient", "HandStore", "HandSimulation",
                "HandTestSupport", "SQLite",
            ]),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "hand", "hand-lab", "tick-bot", "markdown-mirror", "five-cards", "HandCore", "HandWire", "HandSync",
                "HandFormats",
                "HandClient", "HandJournal", "HandStore", "HandScreens", "HandApp", "EventLoop",
                "HandSimulation", "HandTestSupport", "FaultyNetwork", "HTTP", "PostgresServer", "Postgres", "SQLite",
            ]),
        .target(name: "PostgresServer", path: "Tests/Support/PostgresServer"),
        .testTarget(
            name: "HandStoreTests",
            dependencies: [
                "HandCore", "HandWire", "HandSync", "HandJournal", "HandStore", "Postgres", "EventLoop",
                "HandSimulation",
                "HandTestSupport", "PostgresServer", "FaultyNetwork", "SQLite",
            ]),
    ],
    swiftLanguageModes: [.v6]
)

// The tests' own code takes little time to run, and minutes to optimize.
for target in package.targets where target.type == .test {
    target.swiftSettings = [.unsafeFlags(["-Onone"], .when(configuration: .release))]
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
