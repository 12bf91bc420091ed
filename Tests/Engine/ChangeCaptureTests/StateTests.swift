import Foundation
import TestSupport
import Testing

@testable import ChangeCapture
@testable import Store

/// The memory of a capture, kept as bytes and restored by a second one. The difference of two SELECTs is the oracle,
/// over restarts as it is between ticks.
@Suite struct StateTests {
  private static let seed = PropertySeeds.repeated ?? .random(in: 0 ... .max)

  /// Counts of the ways in which the file was left and found.
  private struct Count {
    var restarts = 0
    var byFrames = 0
    var compared: [Doubt.Reason: Int] = [:]
  }

  @Test(arguments: RandomSchema.all)
  func everyDifferenceIsToldOverRestarts(_ schema: RandomSchema) throws {
    var random = SeededGenerator(seed: Self.seed &+ UInt64(schema.description.utf8.count))
    let folder = try TemporaryFolder()
    let path = folder.path("t.sqlite")
    let pageSize = [512, 1_024, 4_096].randomElement(using: &random)!
    let mode = Int.random(in: 0..<4, using: &random) == 0 ? "DELETE" : "WAL"
    try SQLiteShell(path: path).run(
      "PRAGMA page_size = \(pageSize); PRAGMA auto_vacuum = \(Int.random(in: 0...2, using: &random)); \(schema.sql) PRAGMA journal_mode = \(mode);"
    )
    var generator = StatementGenerator(schema: schema, seed: Self.seed)
    let preparation = generator.pragmas()
    var session = try SQLiteSession(path: path)
    try session.run(preparation)
    var fixture = try CaptureFixture(path: path)
    try fixture.followAll()
    var count = Count()
    for restart in 0..<20 {
      for _ in 0..<Int.random(in: 0..<6, using: &random) {
        try session.run(generator.commit())
        let wrong = try fixture.tick().wrong
        #expect(wrong == [], "FRESHET_SEED=\(Self.seed), \(schema), restart \(restart)")
      }
      // Some commits come after the last tick: the process is killed.
      for _ in 0..<Int.random(in: 0..<3, using: &random) { try session.run(generator.commit()) }
      let state = try #require(CaptureState(of: fixture.capture, payload: [1, 2, 3]))
      fixture.close()
      // SQLite removes the WAL when the last connection closes. After a kill it stays, and is recovered.
      switch Int.random(in: 0..<4, using: &random) {
      case 0: session = try SQLiteSession(path: path)
      case 1:
        try session.run("PRAGMA wal_checkpoint(TRUNCATE)")
      default: break
      }
      let hasChanged = Int.random(in: 0..<4, using: &random) != 0
      if hasChanged { for _ in 0..<Int.random(in: 1..<5, using: &random) { try session.run(generator.commit()) } }
      let kept = try #require(CaptureState(decoding: state.encoded()))
      #expect(kept.payload == [1, 2, 3])
      #expect(kept.tableNames.sorted() == state.tableNames.sorted())
      fixture = try fixture.restarted(with: kept)
      #expect(fixture.capture.isRestored)
      let (wrong, tick) = try fixture.tick()
      #expect(
        wrong == [], "FRESHET_SEED=\(Self.seed), \(schema), restart \(restart), \(String(describing: tick.comparison))")
      #expect(!tick.isFirst)
      count.restarts += 1
      if let reason = tick.comparison { count.compared[reason, default: 0] += 1 } else { count.byFrames += 1 }
    }
    #expect(fixture.unknown == 0)
    print(schema, mode, count)
  }

  /// A file of a few tables, written and followed.
  private func example(_ folder: TemporaryFolder) throws -> (SQLiteSession, CaptureFixture) {
    let path = folder.path("t.sqlite")
    try SQLiteShell(path: path).run(
      """
      PRAGMA page_size = 1024; PRAGMA journal_mode = WAL;
      CREATE TABLE a (id INTEGER PRIMARY KEY, t TEXT, n INT);
      CREATE TABLE b (k TEXT PRIMARY KEY, v BLOB) WITHOUT ROWID;
      WITH RECURSIVE i(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i WHERE n < 300)
      INSERT INTO a SELECT n * 3, printf('%0*d', n % 7 * 300, n), n FROM i;
      INSERT INTO b SELECT t || n, zeroblob(n % 5 * 700) FROM a WHERE n < 100;
      """)
    let session = try SQLiteSession(path: path)
    try session.run("UPDATE a SET n = n + 1 WHERE id = 3;")
    let fixture = try CaptureFixture(path: path)
    try fixture.followAll { $0.name == "a" ? [1, 2] : [] }
    return (session, fixture)
  }

  @Test func framesLeadOnWhereTheWALContinues() throws {
    let folder = try TemporaryFolder()
    let (session, fixture) = try example(folder)
    let state = try #require(CaptureState(of: fixture.capture))
    fixture.close()
    for index in 1...3 { try session.run("UPDATE a SET n = -1 WHERE id = \(3 * index);") }
    let next = try fixture.restarted(with: try #require(CaptureState(decoding: state.encoded())))
    let (wrong, tick) = try next.tick()
    #expect(wrong == [])
    #expect(tick.comparison == nil)
    #expect(tick.commits == 3)
    #expect(tick.deltas.map(\.delta.rows.count) == [3])
    #expect(next.capture.form(ofTable: "a") == .rows)
  }

  @Test func theWALOfAnotherTimeIsCompared() throws {
    let folder = try TemporaryFolder()
    var (session, fixture): (SQLiteSession?, CaptureFixture) = try example(folder)
    let state = try #require(CaptureState(of: fixture.capture))
    fixture.close()
    try session?.run("UPDATE a SET n = -1 WHERE id = 3;")
    session = nil
    let next = try fixture.restarted(with: state)
    let (wrong, tick) = try next.tick()
    #expect(wrong == [])
    #expect(tick.comparison == .restart)
    #expect(tick.deltas.map(\.delta.rows.count) == [1])
  }

  /// Both states have the WAL-index header of an empty WAL, which is the same for every state.
  @Test func anEmptyWALIsNotTakenForTheSame() throws {
    let folder = try TemporaryFolder()
    var (session, fixture): (SQLiteSession?, CaptureFixture) = try example(folder)
    fixture.close()
    session = nil
    let first = try CaptureFixture(path: fixture.path)
    try first.followAll()
    let state = try #require(CaptureState(of: first.capture))
    first.close()
    try SQLiteShell(path: fixture.path).run("UPDATE a SET n = -1 WHERE id = 3;")
    let (wrong, tick) = try first.restarted(with: state).tick()
    #expect(wrong == [])
    #expect(tick.comparison == .restart)
    _ = session
  }

  @Test func aTableThatWasAlteredIsUnknown() throws {
    let folder = try TemporaryFolder()
    let (session, fixture) = try example(folder)
    let state = try #require(CaptureState(of: fixture.capture))
    fixture.close()
    try session.run("ALTER TABLE a ADD COLUMN later DEFAULT 5; DROP TABLE b;")
    let (wrong, tick) = try fixture.restarted(with: state).tick()
    #expect(wrong == [])
    #expect(tick.hasSchemaChanged)
    #expect(tick.deltas.contains { $0.delta.isUnknown })
    #expect(tick.deltas.contains { $0.delta.rows.count == 99 && !$0.delta.isUnknown })
  }

  @Test func theStateOfAnotherFileIsNotUsed() throws {
    let folder = try TemporaryFolder()
    let (_, fixture) = try example(folder)
    let state = try #require(CaptureState(of: fixture.capture))
    fixture.close()
    try FileManager.default.copyItem(atPath: fixture.path, toPath: folder.path("u.sqlite"))
    let other = try CaptureFixture(path: folder.path("u.sqlite"), restoring: state)
    #expect(!other.capture.isRestored)
    #expect(other.capture.numbers.isEmpty)
  }

  @Test func theBytesAreAboutTenARow() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("t.sqlite")
    try SQLiteShell(path: path).run(
      """
      CREATE TABLE a (id INTEGER PRIMARY KEY, t TEXT); PRAGMA journal_mode = WAL;
      WITH RECURSIVE i(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i WHERE n < 50000)
      INSERT INTO a SELECT n, 'row number ' || n FROM i;
      """)
    let fixture = try CaptureFixture(path: path)
    try fixture.followAll()
    let size = try #require(CaptureState(of: fixture.capture)).encoded().count
    #expect(size < 50_000 * 10)
  }

  // MARK: - Bytes that nobody wrote

  /// Mutated states with a valid checksum: most are refused, and the others do no harm.
  @Test func mutatedStatesDoNoHarm() throws {
    let folder = try TemporaryFolder()
    let (session, fixture) = try example(folder)
    let bytes = try #require(CaptureState(of: fixture.capture)).encoded()
    #expect(CaptureState(decoding: bytes)?.encoded() == bytes)
    fixture.close()
    var random = SeededGenerator(seed: Self.seed)
    var used = 0
    for round in 0..<3_000 {
      var mutated = bytes
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        // Lengths stand at the beginning of tables; most bytes are hashes.
        let isNearBeginning = Bool.random(using: &random)
        let index = Int.random(in: 32..<(isNearBeginning ? 600 : mutated.count), using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: mutated[index] = UInt8.random(in: 0...255, using: &random)
        case 1: mutated[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 2: mutated.remove(at: index)
        default: mutated.insert(UInt8.random(in: 0...255, using: &random), at: index)
        }
      }
      if mutated == bytes { continue }
      #expect(CaptureState(decoding: mutated) == nil)
      let checksum = mutated.withUnsafeBytes { CaptureState.checksum($0.baseAddress! + 32, $0.count - 32) }
      withUnsafeBytes(of: checksum) { mutated.replaceSubrange(24..<32, with: $0) }
      guard let state = CaptureState(decoding: mutated) else { continue }
      used += 1
      if used % 10 != 0 { continue }
      let other = try fixture.restarted(with: state)
      for step in 0..<3 {
        try session.run("UPDATE a SET n = \(round) WHERE id % 7 = \(step); UPDATE b SET v = zeroblob(\(round % 900));")
        _ = try other.tick()
      }
      other.close()
    }
    #expect(used > 100)
  }

  @Test func tornStatesAreRefused() throws {
    let folder = try TemporaryFolder()
    let (_, fixture) = try example(folder)
    let bytes = try #require(CaptureState(of: fixture.capture)).encoded()
    for count in stride(from: 0, to: bytes.count, by: 97) {
      #expect(CaptureState(decoding: Array(bytes[..<count])) == nil)
    }
    #expect(CaptureState(decoding: bytes + [0]) == nil)
  }

  // MARK: - Files

  @Test func aFileKeepsTheNewestState() throws {
    let folder = try TemporaryFolder()
    let (session, fixture) = try example(folder)
    let place = folder.path("state/of/freshet")
    let file = try StateFile(of: fixture.path, part: "test", in: place)
    #expect(try file.read() == nil)
    try file.write(try #require(CaptureState(of: fixture.capture, payload: [1])))
    try session.run("UPDATE a SET n = 0")
    _ = try fixture.tick()
    try file.write(try #require(CaptureState(of: fixture.capture, payload: [2])), isLast: true)
    let found = try #require(try file.read())
    #expect(found.isLast)
    #expect(found.state.payload == [2])
    // The state has been taken: later changes are not kept yet.
    #expect(try file.read()?.isLast == false)
    let permissions = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
    #expect(permissions == 0o600)
    let ofFolder = try FileManager.default.attributesOfItem(atPath: place)[.posixPermissions] as? Int
    #expect(ofFolder == 0o700)
    #expect(throws: StateFailure.self) { try StateFile(of: fixture.path, part: "test", in: place) }
    #expect(throws: Never.self) { try StateFile(of: fixture.path, part: "other", in: place) }
    #expect(throws: Never.self) { try StateFile(of: fixture.path + "2", part: "test", in: place) }
  }

  @Test func aCopyOfAFileIsNotUsed() throws {
    let folder = try TemporaryFolder()
    let (_, fixture) = try example(folder)
    let file = try StateFile(of: fixture.path, part: "test", in: folder.path("s"))
    try file.write(try #require(CaptureState(of: fixture.capture)), isLast: true)
    let bytes = try #require(FileManager.default.contents(atPath: file.path))
    try FileManager.default.moveItem(atPath: file.path, toPath: file.path + ".old")
    _ = FileManager.default.createFile(atPath: file.path, contents: bytes, attributes: [.posixPermissions: 0o600])
    #expect(throws: StateFailure.self) { try file.read() }
  }

  @Test func aFileThatOthersMayReadIsNotUsed() throws {
    let folder = try TemporaryFolder()
    let (_, fixture) = try example(folder)
    let file = try StateFile(of: fixture.path, part: "test", in: folder.path("s"))
    try file.write(try #require(CaptureState(of: fixture.capture)))
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path)
    #expect(throws: StateFailure.self) { try file.read() }
  }

  @Test func theFolderIsTheServicesOrTheUsers() {
    #expect(StateFolder.standard(["STATE_DIRECTORY": "/var/lib/freshet:/x", "HOME": "/h"]) == "/var/lib/freshet/state")
    #expect(StateFolder.standard(["XDG_STATE_HOME": "/s", "HOME": "/h"]) == "/s/freshet")
    #expect(StateFolder.standard(["XDG_STATE_HOME": "s", "HOME": "/h"]) == "/h/.local/state/freshet")
    #expect(StateFolder.standard([:]) == nil)
  }

  @Test func aNameIsReadableAndOfOneFile() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("Größe & mehr.sqlite")
    let name = StateFolder.stem(of: path, part: "server", in: "/s")
    #expect(name.hasPrefix("/s/Gr__e___mehr.sqlite-") && name.hasSuffix(".server"))
    // As above, with an existing file and under other names.
    _ = FileManager.default.createFile(atPath: path, contents: nil)
    try FileManager.default.createSymbolicLink(atPath: folder.path("link"), withDestinationPath: path)
    #expect(StateFolder.stem(of: path, part: "server", in: "/s") == name)
    #expect(StateFolder.stem(of: folder.path("link"), part: "server", in: "/s") == name)
    #expect(StateFolder.stem(of: folder.path("u.sqlite"), part: "server", in: "/s") != name)
  }
}
