import Controllers
import Following
import Foundation
import GRDB
import LiveQuery
import Logging
import Requests
import Store

/// A list of wells by county and name, wholly held by one subscription, and the connection that changes its table.
final class FollowedList {
  static let query = {
    var query = Query(from: "well")
    query.select = ["name", "operator", "status", "depth"]
    query.sectionBy = Query.SectionBy("county")
    query.orderBy = ["name"]
    return query
  }()

  let writer: DatabaseQueue
  let rows: Int
  var generator = SplitMix(state: 1)
  private let output = EncodingOutput()
  private let follower: SteppedFollower

  init(path: String) throws {
    var configuration = Configuration()
    configuration.busyMode = .timeout(5)
    configuration.prepareDatabase { try $0.execute(sql: "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL") }
    writer = try DatabaseQueue(path: path, configuration: configuration)
    rows = try writer.read { try Int.fetchOne($0, sql: "SELECT max(id) FROM well") } ?? 0
    if rows < 1_000 { throw Failure("there are too few wells in \(path)") }
    var logger = Logger(label: "turns")
    logger.logLevel = .warning
    follower = try SteppedFollower(FollowerConfiguration(path: path), output: output, logger: logger)
    try subscribe()
  }

  private func subscribe() throws {
    let key = SubscriptionKey(session: 1, id: "a", number: 1)
    follower.post(
      .subscribe(.init(key: key, query: Self.query, window: nil, minInterval: .zero, shape: .arrays)))
    // A long snapshot comes in parts, one a tick, as do the pages of a large table.
    var isWhole = false
    for _ in 0..<rows where !isWhole || follower.isBusy {
      follower.step()
      let counts = output.take()
      if counts.errors > 0 { throw Failure("the list cannot be followed") }
      isWhole = isWhole || counts.isWhole
    }
    if !isWhole { throw Failure("the snapshot does not end") }
    // The first commit of a WAL that has nothing in it has the table compared as a whole.
    try writer.inDatabase { try $0.execute(sql: "UPDATE well SET id = id WHERE id = 1") }
    follow()
    // The first change has the runtime look up types, once for the process.
    try writer.inDatabase { try $0.execute(sql: "UPDATE well SET depth = depth + 1 WHERE id = 1") }
    follow()
  }

  /// Takes in what others have committed.
  func follow() {
    follower.step()
    _ = output.take()
  }

  /// One row's commit, and the tick that follows it. Afterwards the table has as many rows as before.
  ///
  /// - Returns: nanoseconds of the tick.
  func time(_ kind: ChangeKind) throws -> Int {
    let id = kind == .insert ? rows + 1 : Int.random(in: 1...rows, using: &generator)
    let settle = try writer.inDatabase { try kind.commit($0, id, &generator) }
    let nanoseconds = measuredTurn(follower)
    let sent = output.take()
    guard sent.patches == 1, kind.isExpected(sent.operations) else {
      throw Failure("\(kind) of well \(id) sent \(sent)")
    }
    if let settle {
      try writer.inDatabase { try settle($0) }
      follow()
    }
    return nanoseconds
  }

  /// A commit of 1,000 changes of all kinds to as many rows, and the tick that follows it.
  func timeThousand() throws -> (nanoseconds: Int, sent: Int, fewest: Int) {
    let before = try writer.read { try Placed.all($0) }
    let settle = try writer.write { try ChangeKind.thousand($0, rows: rows, &generator) }
    let nanoseconds = measuredTurn(follower)
    let sent = output.take()
    guard sent.patches == 1 else { throw Failure("1,000 changes sent \(sent)") }
    let after = try writer.read { try Placed.all($0) }
    try writer.write(settle)
    follow()
    return (nanoseconds, sent.operations.rows + sent.operations.sections, fewestOperations(from: before, to: after))
  }

}

/// One tick, in nanoseconds. Callgrind collects what happens within: `--toggle-collect=freshet_measured_turn`, a name
/// that does not change with the compiler.
@_silgen_name("freshet_measured_turn") @inline(never)
private func measuredTurn(_ follower: SteppedFollower) -> Int {
  let start = DispatchTime.now().uptimeNanoseconds
  follower.step()
  return Int(DispatchTime.now().uptimeNanoseconds - start)
}

/// SplitMix64: the same changes on every machine.
struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
