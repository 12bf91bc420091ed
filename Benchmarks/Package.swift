// swift-tools-version: 6.1
import PackageDescription

// Drives the built command from outside, as any client would; it shares no code with it.
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
        .product(name: "GRDBSQLite", package: "GRDB.swift"),
        .product(name: "Histogram", package: "hdrhistogram-swift"),
      ])
  ],
  swiftLanguageModes: [.v6]
)
