import Foundation
import ServerSupport
import TestSupport
import Testing
import Wire

/// Two servers over two copies of one file, which get the writer's commits at different paces. Clients move between the
/// servers, and resume with what they have. After every answer they hold the rows that SELECT gives at the commit of
/// that answer, and a version has one name everywhere.
///
/// `FRESHET_SEED=n swift test --filter ReplicaPropertyTests` repeats a failure.
@Suite(.serialized) struct ReplicaPropertyTests {
  private static let steps = 250

  @Test(arguments: PropertySeeds.kept("replicas.json"))
  func clientsGoFromServerToServer(seed: UInt64) throws {
    try hop(seed, Hopping(seed: seed, queries: OracleQuery.overItems, steps: Self.steps))
  }

  @Test(arguments: PropertySeeds.kept("replicas.json"))
  func clientsGoFromTheWritersServerToAReplica(seed: UInt64) throws {
    try hop(seed, Hopping(seed: seed, queries: OracleQuery.overItems, steps: Self.steps, withWriter: true))
  }

  @Test(arguments: PropertySeeds.kept("replicas.json"))
  func clientsGoBetweenServersThatAreBusy(seed: UInt64) throws {
    for withWriter in [false, true] {
      let test = try Hopping(seed: seed, queries: OracleQuery.overItems, steps: 0, withWriter: withWriter)
      try test.runBusy(commits: 400)
      print("busy replicas, seed \(seed): \(test.summary)")
      #expect(test.patches > 0 && test.hops > 10, "\(test.summary)")
    }
  }

  private func hop(_ seed: UInt64, _ test: Hopping) throws {
    try test.run()
    print("replicas, seed \(seed): \(test.summary)")
    #expect(test.patches >= test.hops / 5, "\(test.summary)")
    // A query that is run again may have skipped a state, because it rests between runs.
    #expect(test.expectedPatches * 10 >= test.expected * 9, "\(test.summary)")
    #expect(test.expected > 50, "\(test.summary)")
  }
}

/// One run.
private final class Hopping {
  private let seed: UInt64
  private let queries: [OracleQuery]
  private let steps: Int
  private var random: SeededGenerator
  private let log: ReplicaLog
  private let replicas: [Replica]
  private var clients: [(connection: LiveClient, replica: Int)] = []
  private var names: [String: String] = [:]
  private let changesEpoch: Bool
  private(set) var hops = 0
  private(set) var patches = 0
  /// Moves to a server that has certainly seen the client's state, and how many of these got a patch.
  private(set) var expected = 0
  private(set) var expectedPatches = 0
  /// Versions whose commit is not certain.
  private(set) var unnamed = 0

  var summary: String {
    "\(hops) lists taken along, \(patches) by patch; \(expectedPatches) of \(expected) where the state was seen; \(unnamed) unnamed"
  }

  /// - Parameter withWriter: whether one of the servers is the writer's.
  init(seed: UInt64, queries: [OracleQuery], steps: Int, withWriter: Bool = false) throws {
    self.seed = seed
    self.queries = queries
    self.steps = steps
    random = SeededGenerator(seed: seed &+ 3)
    // With a single follower, a client knows to which epoch a message belongs.
    changesEpoch = seed % 2 == 1 && !withWriter
    log = try ReplicaLog(queries, seed: seed)
    let followers = seed % 2 == 1 ? 1 : 2
    replicas = try [
      Replica(log, queries, followers: followers, isWriters: withWriter), Replica(log, queries, followers: followers),
    ]
    for number in 0..<4 { try clients.append((join(number % 2), number % 2)) }
  }

  private func join(_ replica: Int) throws -> LiveClient {
    let client = try replicas[replica].live.connect()
    for (id, query) in queries.enumerated() {
      try client.subscribe("\(id)", query.json, window: id == 0 ? (2, 5) : nil)
    }
    return client
  }

  func run() throws {
    for step in 0..<steps {
      if log.entries.count < replicas.map(\.applied).min()! + 6 { try log.commit() }
      if changesEpoch, step % 80 == 79 { try log.beginEpoch("epoch \(step)") }
      try advance(replicas[Int.random(in: 0...1, using: &random)])
      if Int.random(in: 0..<3, using: &random) == 0 { try hop(Int.random(in: 0..<clients.count, using: &random), step) }
    }
    for replica in replicas {
      try replica.apply(replica.lag)
      try replica.settle()
    }
    for number in clients.indices { try hop(number, steps) }
  }

  /// Clients move to and fro while both files advance.
  func runBusy(commits: Int) throws {
    for commit in 0..<commits {
      if changesEpoch, commit % 400 == 399 { try log.beginEpoch("epoch \(commit)") } else { try log.commit() }
    }
    let ends = replicas.enumerated().map { $1.applyAll(seed: seed &+ UInt64($0)) }
    // Both end before the replicas do, also when a check throws.
    defer { for end in ends.dropFirst() { end.wait() } }
    var step = 0
    while ends[0].wait(timeout: .now()) == .timedOut {
      try hop(step % clients.count, step)
      step += 1
    }
    ends[1].wait()
    ends[1].signal()
    for replica in replicas { try replica.settle() }
    for number in clients.indices { try hop(number, step) }
  }

  private func advance(_ replica: Replica) throws {
    if replica.lag == 0 { return try replica.touch() }
    try replica.apply(min(replica.lag, [1, 1, 1, 2, 3].randomElement(using: &random)!))
    if Int.random(in: 0..<4, using: &random) > 0 { try replica.settle() }
  }

  /// Moves a client from its server to the other one, where it resumes.
  private func hop(_ number: Int, _ step: Int) throws {
    let (before, from) = clients[number]
    let ids = queries.indices.map { "\($0)" }
    try before.catchUp(ids)
    for id in queries.indices { check(before, id, "before step \(step)") }
    before.socket.close()
    let replica = replicas[1 - from]
    let after = try replica.live.connect()
    for id in queries.indices {
      guard let model = before.models["\(id)"], let epoch = before.epochs["\(id)"] else { continue }
      let isNamed = !model.version.contains("-")
      let isSeen = isNamed && replica.seen.contains(.init(epoch: epoch, commit: model.commit))
      try after.resume("\(id)", queries[id].json, model)
      check(after, id, "after step \(step), with \(model.version)")
      let isPatch = after.change("\(id)") == "patch"
      hops += 1
      patches += isPatch ? 1 : 0
      expected += isSeen ? 1 : 0
      expectedPatches += isSeen && isPatch ? 1 : 0
    }
    clients[number] = (after, 1 - from)
  }

  private func check(_ client: LiveClient, _ id: Int, _ when: String) {
    guard let model = client.models["\(id)"], let epoch = client.epochs["\(id)"] else {
      return #expect(Bool(false), "no list \(id), \(when), seed \(seed): \(client.line("\(id)"))")
    }
    // The writer's server counts commits: if it does not know for certain which state a reader saw, no other server
    // honours the version.
    if model.version.contains("-") { return unnamed += 1 }
    let position = ReplicaLog.Position(epoch: epoch, commit: model.commit)
    guard let answer = log.answer(id, at: position) else {
      return #expect(Bool(false), "nothing was ever at \(position): list \(id), \(when), seed \(seed)")
    }
    let difference = model.difference(from: answer)
    let others =
      difference == nil
      ? [] : log.positions.filter { log.answer(id, at: $0).map { model.difference(from: $0) == nil } == true }
    #expect(
      difference == nil,
      "list \(id) at \(position), \(when), seed \(seed): what there was at \(others); \(client.last["\(id)"] ?? .null)")
    let name = names["\(position) \(id)"]
    names["\(position) \(id)"] = model.version
    #expect(
      name == nil || name == model.version,
      "two names of list \(id) at \(position), \(name ?? "") and \(model.version), \(when), seed \(seed)")
  }
}
