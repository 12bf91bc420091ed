// swift-tools-version: 6.1
import PackageDescription

/// `FRESHET_STRICT=1` (set by `make` and CI) turns warnings into errors; it is off otherwise so that a newer
/// compiler's new warnings never stop a user's build.
let strict = Context.environment["FRESHET_STRICT"] == "1"

/// Tests run optimized code with its assertions: they take half of the time, calls have bounds in time, and pages are
/// tried with a server that keeps up. `FRESHET_OPTIMIZED=1` does that without the strictness (scripts/mutate.sh).
let optimized = strict || Context.environment["FRESHET_OPTIMIZED"] == "1"

/// `FRESHET_FUZZ=1` (set by scripts/fuzz.sh) adds the executable freshet-fuzz and has the modules that it drives report
/// to libFuzzer which of their code runs, under the sanitizers. The packages they depend on are built as always.
let fuzz = Context.environment["FRESHET_FUZZ"] == "1"
/// The flags that libFuzzer's driver takes: the archive's path, which only the compiler knows.
let fuzzLibraries = Context.environment["FRESHET_FUZZ_LIBRARIES"]?.split(separator: " ").map(String.init) ?? []

let swiftSettings: [SwiftSetting] =
  [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
  ] + (strict ? [.unsafeFlags(["-warnings-as-errors"])] : [])
  + (fuzz ? [.unsafeFlags(["-sanitize=fuzzer,address", "-assert-config", "Debug", "-enable-testing"])] : [])

let cSettings: [CSetting] =
  (strict ? [.unsafeFlags(["-Wall", "-Wextra", "-Werror"])] : []) + (optimized ? [.unsafeFlags(["-O2"])] : [])
  + (fuzz ? [.unsafeFlags(["-fsanitize=fuzzer-no-link,address,undefined", "-fno-sanitize-recover=undefined"])] : [])

/// The commit in `freshet --version`, set by scripts/dist.sh.
let commit: [CSetting] =
  switch Context.environment["FRESHET_COMMIT"] {
  case nil, "": []
  case let name?: [.define("FRESHET_COMMIT", to: "\"\(name)\"")]
  }

/// A folder of `Sources`. A module depends on modules of its own floor and of those above it in this list.
enum Floor: String {
  case engine = "Engine"
  case libraries = "Libraries"
  case cluster = "Cluster"
  case network = "Network"
  case tools = "Tools"

  func path(_ module: String) -> String { "Sources/\(rawValue)/\(module)" }
}

let moduleSettings =
  swiftSettings
  + (optimized ? [.unsafeFlags(["-O", "-assert-config", "Debug"], .when(configuration: .debug))] : [])

/// One library module; its folder has its name.
func module(_ floor: Floor, _ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
  .target(name: name, dependencies: dependencies, path: floor.path(name), swiftSettings: moduleSettings)
}

/// A library that Debian's package `apt` installs.
func system(_ floor: Floor, _ name: String, _ library: String, apt: String) -> Target {
  .systemLibrary(name: name, path: floor.path(name), pkgConfig: library, providers: [.apt([apt])])
}

/// The tests of one module, with whatever else they drive; in `Tests` on the floor of the module.
func tests(_ floor: Floor, of name: String, _ more: [Target.Dependency] = []) -> Target {
  tests(floor, "\(name)Tests", [.init(stringLiteral: name)] + more)
}

func tests(_ floor: Floor, _ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .testTarget(
    name: name, dependencies: dependencies, path: "Tests/\(floor.rawValue)/\(name)", swiftSettings: swiftSettings)
}

let grdb: Target.Dependency = .product(name: "GRDB", package: "GRDB.swift")
let yams: Target.Dependency = .product(name: "Yams", package: "Yams")
/// Apple's systems have WebSockets of their own.
let webSocketClient: Target.Dependency = .target(name: "WebSocketClient", condition: .when(platforms: [.linux]))
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")

let package = Package(
  name: "freshet",
  platforms: [.macOS(.v15), .iOS(.v18)],
  products: [
    .executable(name: "freshet", targets: ["FreshetCommand"]),
    .library(name: "Freshet", targets: ["Freshet"]),
    .library(name: "FreshetClient", targets: ["FreshetClient"]),
  ],
  // Bounds are the versions that are tested: no Package.resolved is in git.
  dependencies: [
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
  ],
  targets: [
    // C: sockets, compression.
    system(.libraries, "CLibWebSockets", "libwebsockets", apt: "libwebsockets-dev"),
    system(.libraries, "COpenSSL", "openssl", apt: "libssl-dev"),
    system(.cluster, "CLibNATS", "libnats", apt: "libnats-dev"),
    system(.cluster, "CZlib", "zlib", apt: "zlib1g-dev"),
    .target(
      name: "CGateway", dependencies: ["CLibWebSockets", "COpenSSL"], path: Floor.network.path("CGateway"),
      cSettings: cSettings),
    .target(name: "CFreshetSystem", path: Floor.engine.path("CFreshetSystem"), cSettings: cSettings + commit),
    .target(
      name: "CSQLite", path: Floor.engine.path("CSQLite"), cSettings: cSettings,
      linkerSettings: [.linkedLibrary("sqlite3")]),

    // Clocks, bytes, threads and the system's C library.
    module(.engine, "Ground", ["CFreshetSystem"]),

    // Pure: no I/O, no clock, no Foundation.
    module(.engine, "RankedCollections", ["Ground"]),
    module(.engine, "LiveQuery", ["Ground", "RankedCollections"]),
    module(.engine, "Wire", ["LiveQuery"]),

    // Effects.
    module(.engine, "ChangeCapture", ["CSQLite", "Ground"]),
    module(
      .engine, "Store", ["CFreshetSystem", "ChangeCapture", "CSQLite", "Ground", "LiveQuery", "RankedCollections"]),
    module(
      .engine, "QueryCompiler", ["ChangeCapture", "CSQLite", "Ground", "LiveQuery", "RankedCollections", "Store"]),
    // The identity of the file, its changes, and the numbers of its states.
    module(
      .engine, "Following",
      ["CFreshetSystem", "CSQLite", "ChangeCapture", "Ground", "LiveQuery", "Store", logging]),
    // Requests of subscribers and their answers, and the threads that read for them.
    module(
      .engine, "Requests",
      [
        "CFreshetSystem", "CSQLite", "ChangeCapture", "Following", "Ground", "LiveQuery", "QueryCompiler",
        "RankedCollections", "Store", "Wire", logging,
      ]),
    module(
      .engine, "Lists",
      [
        "CFreshetSystem", "CSQLite", "ChangeCapture", "Following", "Ground", "LiveQuery", "QueryCompiler",
        "RankedCollections", "Requests", "Store", logging,
      ]),
    module(
      .engine, "Delivery",
      [
        "ChangeCapture", "Following", "Ground", "Lists", "LiveQuery", "QueryCompiler", "RankedCollections", "Requests",
        "Store", "Wire",
      ]),
    module(
      .engine, "Feed",
      [
        "ChangeCapture", "Following", "Ground", "LiveQuery", "QueryCompiler", "RankedCollections", "Requests", "Store",
        "Wire", logging,
      ]),
    module(
      .engine, "Controllers",
      [
        "ChangeCapture", "Delivery", "Feed", "Following", "Ground", "Lists", "LiveQuery", "Requests", "Store", "Wire",
        logging,
      ]),
    // Types that programs see: lists as values, and their controllers.
    module(.libraries, "FreshetResults", ["LiveQuery", "Wire"]),
    module(
      .libraries, "Freshet",
      [
        "ChangeCapture", "Controllers", "CSQLite", "Feed", "Following", "FreshetResults", "LiveQuery", "Requests",
        "Store", "Wire", grdb,
        logging,
      ]),
    module(.libraries, "FreshetRemote", ["FreshetResults", "LiveQuery", "Wire"]),
    .target(
      name: "CWebSocketClient", dependencies: ["CLibWebSockets", "COpenSSL"],
      path: Floor.libraries.path("CWebSocketClient"), cSettings: cSettings),
    module(.libraries, "WebSocketClient", ["CWebSocketClient", "FreshetRemote", "LiveQuery"]),
    module(.libraries, "FreshetClient", ["FreshetRemote", "LiveQuery", webSocketClient]),
    module(.network, "Gateway", ["CGateway", "Ground"]),
    // More machines: a log of changes in a broker, and files that are made of it.
    module(.cluster, "Broker", ["CLibNATS", "Ground"]),
    module(
      .cluster, "Replication",
      [
        "Broker", "ChangeCapture", "COpenSSL", "CSQLite", "CZlib", "Following", "Ground", "LiveQuery", "Store", logging,
      ]),
    module(.tools, "FileMaking", ["Store"]),
    module(.tools, "TerminalWatch", ["FreshetRemote", "FreshetResults", "LiveQuery", "WebSocketClient", "Wire"]),
    module(.tools, "Demo", ["FileMaking", "LiveQuery", "Store"]),
    .target(
      name: "Server",
      dependencies: [
        "Broker", "ChangeCapture", "Controllers", "COpenSSL", "CZlib", "Delivery", "Feed", "Following", "Gateway",
        "Ground",
        "LiveQuery", "RankedCollections", "Replication", "Requests", "Store", "Wire", logging, yams,
      ],
      path: Floor.network.path("Server"), resources: [.embedInCode("Resources")], swiftSettings: swiftSettings),

    // Its product is the command. The target has another name, for file systems to which `freshet` is the library
    // `Freshet`.
    .executableTarget(
      name: "FreshetCommand",
      dependencies: [
        "Broker", "CFreshetSystem", "ChangeCapture", "COpenSSL", "CSQLite", "Demo", "Feed", "FileMaking", "Following",
        "FreshetRemote", "Ground", "LiveQuery", "QueryCompiler", "Replication", "Requests", "Server", "Store",
        "TerminalWatch", "Wire", logging,
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: Floor.tools.path("FreshetCommand"), swiftSettings: swiftSettings),

    // Takes a follower's ticks without threads or sockets, for benchmarks and for counting instructions. It is not in
    // the package of the benchmarks because it needs what only this one's modules see.
    .executableTarget(
      name: "freshet-turns",
      dependencies: [
        "ChangeCapture", "Controllers", "Following", "Ground", "LiveQuery", "Requests", "Store", "Wire", grdb, logging,
      ],
      path: "Benchmarks/Turns", swiftSettings: swiftSettings),

    .executableTarget(
      name: "freshet-side-by-side", dependencies: ["Freshet", grdb], path: "Benchmarks/SideBySide",
      swiftSettings: swiftSettings),

    // A client as the protocol describes it, against which everything that makes patches is tested.
    .target(
      name: "TestSupport", dependencies: ["COpenSSL", "Ground", "LiveQuery", "Store", "Wire", logging],
      path: "Tests/Support/TestSupport",
      swiftSettings: swiftSettings),
    // A server in the tests' process, its clients, the command as a process, and queries that SQLite answers as well.
    .target(
      name: "ServerSupport",
      dependencies: [
        "COpenSSL", "FreshetClient", "LiveQuery", "Server", "Store", "TestSupport", "Wire", grdb, logging,
      ],
      path: "Tests/Support/ServerSupport", swiftSettings: swiftSettings),
    // SQLite's file system with reads that fail on demand.
    .target(name: "CFaultyFiles", dependencies: ["CSQLite"], path: "Tests/Support/CFaultyFiles", cSettings: cSettings),
    tests(.engine, of: "Ground"),
    tests(.engine, of: "RankedCollections", ["Ground", "TestSupport"]),
    tests(.engine, of: "LiveQuery", ["Ground", "RankedCollections", "TestSupport", "Wire"]),
    tests(.engine, of: "Wire", ["LiveQuery"]),
    // A foreign program that writes files in every way that SQLite has, and dies in the middle of commits on request.
    .executableTarget(
      name: "hostile-writer", path: "Tests/Support/CHostileWriter", cSettings: cSettings,
      linkerSettings: [.linkedLibrary("sqlite3")]),
    tests(
      .engine, of: "ChangeCapture",
      ["hostile-writer", "CSQLite", "Following", "Ground", "LiveQuery", "Store", "TestSupport", grdb]),
    tests(.engine, of: "Store", ["CSQLite", "Ground", "LiveQuery", "RankedCollections", "TestSupport", grdb]),
    tests(.engine, of: "QueryCompiler", ["LiveQuery", "Store", "TestSupport", grdb]),
    tests(
      .engine, of: "Controllers",
      [
        "ChangeCapture", "Delivery", "Feed", "Following", "Lists", "Requests", "Ground", "LiveQuery", "Store",
        "TestSupport", "Wire", grdb, logging,
      ]),
    tests(.libraries, of: "FreshetResults", ["LiveQuery", "TestSupport", "Wire"]),
    tests(.libraries, of: "Freshet", ["LiveQuery", "TestSupport", "Wire", grdb]),
    tests(
      .libraries, of: "FreshetClient",
      [
        "FreshetRemote", "FreshetResults", "Gateway", "LiveQuery", "Server", "ServerSupport", "TestSupport", "Wire",
        grdb,
      ]),
    tests(.tools, of: "TerminalWatch", ["FreshetRemote", "FreshetResults", "LiveQuery", "Wire"]),
    tests(.network, of: "Gateway", ["TestSupport"]),
    tests(.cluster, of: "Broker", ["TestSupport"]),
    tests(
      .cluster, of: "Replication",
      [
        "hostile-writer", "Broker", "Controllers", "CSQLite", "Following", "Ground", "LiveQuery", "Store",
        "TestSupport",
        logging,
      ]),
    tests(.tools, of: "FileMaking"),
    tests(.tools, of: "Demo", ["FileMaking", "TestSupport", grdb]),
    tests(
      .network, of: "Server",
      [
        "COpenSSL", "Ground", "LiveQuery", "ServerSupport", "Store", "TestSupport", "Wire", grdb, logging,
      ]),
    // They run the built command as a process.
    tests(.tools, "FreshetCommandTests", ["ServerSupport", "Store", "TestSupport", "Wire", grdb]),
    // Servers over copies of a file.
    tests(
      .cluster, "ClusterTests",
      [
        "Broker", "LiveQuery", "Replication", "Server", "ServerSupport", "TestSupport", "Wire", grdb,
        logging,
      ]),
    // Lists compared with SQLite's own answers, over every transport.
    .testTarget(
      name: "ListTests",
      dependencies: [
        "CFaultyFiles", "Controllers", "Demo", "Following", "Freshet", "FreshetClient", "Gateway", "Lists", "LiveQuery",
        "Requests",
        "Server", "ServerSupport", "CSQLite", "Store", "TestSupport", "Wire", grdb, logging,
      ],
      swiftSettings: swiftSettings),
  ],
  swiftLanguageModes: [.v6]
)

// The fuzzers' targets: with libFuzzer; or, in the builds of tests, as a program that gives them the inputs in git.
if fuzz || strict {
  package.targets += [
    .target(
      name: "CFuzzing", dependencies: ["CGateway", "CLibWebSockets"], path: "Fuzzing/CFuzzing",
      cSettings: cSettings + [.headerSearchPath("../../Sources/Network/CGateway")]
        + (fuzz ? [] : [.define("FRESHET_CORPORA")])),
    .executableTarget(
      name: fuzz ? "freshet-fuzz" : "freshet-corpora",
      dependencies: [
        "CFuzzing", "ChangeCapture", "CSQLite", "Gateway", "Ground", "LiveQuery", "QueryCompiler", "Server", "Store",
        "Wire",
        grdb,
      ],
      path: "Fuzzing/Targets", swiftSettings: swiftSettings,
      linkerSettings: fuzz ? [.unsafeFlags(["-sanitize=address", "-use-ld=lld"] + fuzzLibraries)] : []),
  ]
}
