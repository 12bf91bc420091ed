// swift-tools-version: 6.1
import PackageDescription

// Drives the built commands from outside, as any client and any writer would; it shares no code with them.
let package = Package(
  name: "benchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.2.0"),
  ],
  targets: [
    .executableTarget(
      name: "FreshetBench",
      dependencies: [
        "CCrowd",
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "GRDBSQLite", package: "GRDB.swift"),
        .product(name: "Histogram", package: "hdrhistogram-swift"),
      ]),
    // Any number of clients in one process.
    .target(name: "CCrowd"),
    // Baselines: what the machine does without Freshet.
    .executableTarget(name: "bare-fan-out"),
    .executableTarget(name: "bare-lookup", linkerSettings: [.linkedLibrary("sqlite3")]),
    .executableTarget(name: "bare-server", dependencies: ["CLibWebSockets"]),
    .systemLibrary(name: "CLibWebSockets", pkgConfig: "libwebsockets", providers: [.apt(["libwebsockets-dev"])]),
  ],
  swiftLanguageModes: [.v6]
)
