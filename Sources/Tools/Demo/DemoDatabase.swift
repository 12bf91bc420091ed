import FileMaking
import Foundation
import LiveQuery
import Store

/// The demo: oil and gas wells in the counties of five states, and banks that have failed; the same ones for the same
/// seed.
///
/// What is created at `path` appears there whole or not at all (`NewDatabase`).
package enum DemoDatabase {
  package static let defaultRows = 244_292
  package static let defaultSeed: UInt64 = 1
  /// Banks in every demo database, however many wells it has.
  package static let banks = 600
  /// All banks' certificates are higher than this.
  static let firstCertificate = 1_000

  /// The number of rows between two calls of `progress`, and between two checks for cancellation.
  private static let stride = 2_000

  /// The path at which the demo with a number of rows is cached: in `$FRESHET_CACHE`, else in `freshet` below
  /// `$XDG_CACHE_HOME`, else in `~/.cache/freshet`. The directory need not exist.
  package static func cachePath(
    rows: Int, environment: [String: String] = ProcessInfo.processInfo.environment
  ) -> String {
    func directory(_ name: String) -> URL? {
      environment[name].flatMap { $0.isEmpty ? nil : URL(fileURLWithPath: $0, isDirectory: true) }
    }
    let home = FileManager.default.homeDirectoryForCurrentUser
    let cache = directory("XDG_CACHE_HOME") ?? home.appendingPathComponent(".cache", isDirectory: true)
    let parent = directory("FRESHET_CACHE") ?? cache.appendingPathComponent("freshet", isDirectory: true)
    return parent.appendingPathComponent("wells-\(rows).sqlite").path
  }

  /// Whether the file is a demo database as this version makes them. False if it cannot be read.
  package static func isCurrent(at path: String) -> Bool {
    let version = try? Connection(path).first("PRAGMA user_version") { $0.integer(0) }
    return version == Int64(DemoSchema.version)
  }

  /// Makes the database, with its directory if need be.
  ///
  /// - Parameter rows: wells; with fewer than there are counties, some counties have none. The number of banks is
  ///   always `banks`.
  /// - Parameter progress: called with the number of rows so far, now and then and at the end. An error that it throws
  ///   ends the creation.
  /// - Throws: `FileMakingError` (`exists`: it never replaces a file), `CancellationError` when the task is cancelled,
  ///   what SQLite and `progress` throw. Whatever is thrown, nothing is left behind.
  package static func create(
    at path: String, rows: Int = defaultRows, seed: UInt64 = defaultSeed, progress: (Int) throws -> Void = { _ in }
  ) throws {
    try NewDatabase.create(at: path) { try fill($0, rows: rows, seed: seed, progress: progress) }
  }

  private static func fill(_ db: Connection, rows: Int, seed: UInt64, progress: (Int) throws -> Void) throws {
    try db.run(DemoSchema.tables)
    for name in Operators.names { try db.run("INSERT INTO operator(name) VALUES (?)", [.text(name)]) }
    for county in County.all {
      try db.run("INSERT INTO county(name, state) VALUES (?, ?)", [.text(county.name), .text(county.state)])
    }
    let insert = try PreparedStatement(db.raw, DemoSchema.insertWell)
    var generator = DemoGenerator(seed: seed)
    for row in 0..<rows {
      // The first wells are one for each county, so that no county is empty.
      let well = Well.random(&generator, county: row < County.all.count ? row : nil)
      for (index, value) in well.values.enumerated() { insert.bind(value, at: Int32(index + 1)) }
      _ = try insert.step()
      insert.reset()
      if (row + 1) % stride == 0 {
        try Task.checkCancellation()
        try progress(row + 1)
      }
    }
    try addBanks(db, seed: seed)
    try db.run("ANALYZE")
    try db.run("PRAGMA user_version = \(DemoSchema.version)")
    try progress(rows)
  }

  private static func addBanks(_ db: Connection, seed: UInt64) throws {
    // Banks have random numbers of their own, so that changes of their making do not change the wells.
    var generator = DemoGenerator(seed: ~seed)
    var certificate = firstCertificate
    for _ in 0..<banks {
      let bank = Bank.random(&generator, after: certificate)
      certificate = bank.certificate
      try bank.insert(db)
    }
  }
}
