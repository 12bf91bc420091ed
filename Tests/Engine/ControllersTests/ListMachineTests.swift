import Ground
import LiveQuery
import RankedCollections
import Store
import TestSupport
import Testing

@testable import ChangeCapture
@testable import Following
@testable import Lists

/// All small worlds of one list: a file of two values, a reader, a client that comes and goes. The machine decides what
/// to do; the world does it, and knows what the list must show.
@Suite struct ListMachineTests {
  // Rules of machine: join-knows-all, misses-nothing, never-retried, answers-too-much, run-goes-on, joins-for-ever,
  // doubt-is-forgotten
  @Test(arguments: [true, false])
  func `In every small world a list shows what the file holds, or is brought there`(canLookUp: Bool) {
    var worlds = 0
    explore(World(canLookUp: canLookUp), depth: TestDepth.count(4, long: 6), path: [], &worlds)
    #expect(worlds > 30_000)
  }

  @Test(arguments: 0..<TestDepth.count(2_000, long: 50_000))
  func `In long histories a list shows what the file holds, or is brought there`(seed: Int) {
    var random = SeededGenerator(seed: UInt64(seed))
    var world = World(canLookUp: seed % 8 > 1)
    var path: [World.Event] = []
    // Half of the runs are only about joining, where faults need many steps to show.
    let events = seed % 2 == 0 ? World.Event.allCases : World.Event.ofJoining
    for _ in 0..<60 {
      let event = events.randomElement(using: &random)!
      path.append(event)
      world.apply(event)
      if let fault = world.fault { return fail(fault, path) }
    }
    world.settle()
    if let fault = world.fault { fail(fault, path) }
  }

  /// - Returns: false after a fault, because one is enough.
  @discardableResult
  private func explore(_ world: World, depth: Int, path: [World.Event], _ worlds: inout Int) -> Bool {
    worlds += 1
    var settled = world
    settled.settle()
    if let fault = world.fault ?? settled.fault {
      fail(fault, path)
      return false
    }
    if depth == 0 { return true }
    for event in World.Event.allCases {
      var next = world
      next.apply(event)
      if !explore(next, depth: depth - 1, path: path + [event], &worlds) { return false }
    }
    return true
  }

  private func fail(_ fault: String, _ path: [World.Event]) {
    Issue.record("\(fault) after \(path.map { "\($0)" }.joined(separator: ", "))")
  }
}

private struct World {
  enum Event: CaseIterable {
    /// Another process commits a change of the value that only grows, or of the one that flips back and forth.
    case commitGrowing, commitFlipping
    case tick
    /// A tick that cannot tell what changed.
    case tickInDoubt
    /// A tick in which looking rows up fails.
    case tickFailing
    /// Time passes, so that the next tick finds the list due.
    case timePasses
    /// The reader begins. It may give way to other work and begin again.
    case readerBegins
    /// The reader says which state it sees.
    case readerTells
    case readerEnds, readerFails
    case clientLeaves, clientComes
    case schemaChanges

    static let ofJoining = [
      Event.commitFlipping, .tick, .tickInDoubt, .timePasses, .readerBegins, .readerTells, .readerEnds,
    ]
  }

  private struct Values: Equatable {
    var growing = 0
    var flipping = false

    /// The units in which two states differ.
    func differences(to other: Values) -> [UInt8] {
      (growing == other.growing ? [] : [1]) + (flipping == other.flipping ? [] : [2])
    }

    mutating func take(_ unit: UInt8, from other: Values) {
      if unit == 1 { growing = other.growing } else { flipping = other.flipping }
    }
  }

  private struct Job {
    let id: UInt64
    /// The schema that its query is compiled for.
    let schema: Int
    /// The state that the reader sees, once it has begun: the file's states are numbered.
    var state: Int?
    /// Whether the reader has reported its state, and whether a tick has handled that.
    var isTold = false
    var isReported = false
    var outcome: Outcome?
  }

  private enum Outcome { case result, failure }

  private var machine: ListMachine
  /// All states of the file, the newest last.
  private var file = [Values()]
  /// The state that the last tick saw.
  private var seen = 0
  /// The state that each tick with changes saw, by the number of such ticks.
  private var seenAtTick = [0]
  private var ticks: Int { seenAtTick.count - 1 }
  private var content = Values()
  private var schema = 0
  /// The schema in which the content was read.
  private var contentSchema = 0
  private let canLookUp: Bool
  private var job: Job?
  private var lastJob: UInt64 = 0
  private var isCompiling = false
  private var isUsed = true
  private var now = Instant.distantPast + .milliseconds(1_000_000)
  /// The first error that was found.
  private(set) var fault: String?

  init(canLookUp: Bool) {
    self.canLookUp = canLookUp
    machine = ListMachine(
      shown: nil, ticks: 0, duration: .milliseconds(1),
      periods: .init(refetch: .milliseconds(100), retry: .milliseconds(1_000), refresh: nil), now: now)
  }

  mutating func apply(_ event: Event) {
    switch event {
    case .commitGrowing: commit { $0.growing += 1 }
    case .commitFlipping: commit { $0.flipping.toggle() }
    case .tick: tick()
    case .tickInDoubt: tick(isInDoubt: true)
    case .tickFailing: tick(isFailing: true)
    case .timePasses:
      if let due = machine.due, due != .distantFuture { now = max(now, due) }
    case .readerBegins:
      if job?.outcome == nil {
        job?.state = file.count - 1
        job?.isTold = false
        job?.isReported = false
      }
    case .readerTells: if job?.state != nil { job?.isTold = true }
    case .readerEnds: if job?.isTold == true, job?.outcome == nil { job?.outcome = .result }
    case .readerFails: if job?.outcome == nil { job?.outcome = .failure }
    case .clientLeaves: leave()
    case .clientComes: come()
    case .schemaChanges: changeSchema()
    }
    check()
  }

  private mutating func commit(_ change: (inout Values) -> Void) {
    var values = file[file.count - 1]
    change(&values)
    file.append(values)
  }

  // Does what `Lists` does in a tick.
  private mutating func tick(isInDoubt: Bool = false, isFailing: Bool = false) {
    // Ticks stop at the state that a reader has begun in.
    var stops = [file.count - 1]
    if let state = job?.state, job?.isTold == true, job?.isReported == false {
      job?.isReported = true
      let isPassed = state >= seen
      if isPassed { stops.insert(state, at: 0) }
      machine.readerBegan(job!.id, passed: isPassed ? name(state) : nil)
    }
    var units: Set<UInt8> = []
    let before = seen
    for stop in stops {
      units.formUnion(file[seen].differences(to: file[stop]))
      seen = stop
    }
    if seen > before { seenAtTick.append(seen) }
    if isInDoubt {
      machine.mustRunAgain(shown: number(before))
    } else if !units.isEmpty {
      change(units, isFailing: isFailing, before)
    }
    if let due = machine.due, due <= now, isUsed { run() }
    takeResult(isFailing: isFailing)
    if isCompiling {
      isCompiling = false
      machine.recompiled(shown: number(before))
      run()
    }
  }

  private mutating func change(_ units: Set<UInt8>?, isFailing: Bool, _ before: Int) {
    let concerned = units.map { units in
      var concerned = ConcernedUnits()
      for unit in units { [unit].withUnsafeBytes { concerned.add($0, .all) } }
      return concerned
    }
    guard machine.changed(concerned, alongside: false, canLookUp: canLookUp, shown: number(before)) else {
      return
    }
    if isFailing { return failLookUp(before) }
    for unit in units ?? [] { content.take(unit, from: file[seen]) }
  }

  private mutating func failLookUp(_ shown: Int) {
    if machine.failed(shown: number(shown), now: now).cancelled != nil { job = nil }
  }

  private mutating func takeResult(isFailing: Bool) {
    guard let ended = job, let outcome = ended.outcome, let run = machine.ended(ended.id) else { return }
    job = nil
    guard outcome == .result, let state = ended.state else { return failLookUp(seen) }
    guard ended.schema == schema else { return machine.endedTooEarly() }
    content = file[state]
    contentSchema = schema
    let join = machine.joined(
      run, shown: number(state), state: name(state), isTicksState: state == seen, ticks: ticks, canLookUp: canLookUp)
    machine.noteRun(.milliseconds(1), now: now)
    switch join {
    case .complete, .later: break
    case .lookUp(let units, _):
      if isFailing { return failLookUp(state) }
      units.forEach { unit, _ in content.take(unit[0], from: file[seen]) }
      machine.caughtUp()
    case .runHere:
      if isFailing { return failLookUp(state) }
      content = file[seen]
      machine.caughtUp()
    }
  }

  private mutating func run() {
    if machine.isRunning || isCompiling { return }
    lastJob += 1
    machine.began(lastJob, asked: Int64(seen), ticks: ticks, shown: machine.shownBefore ?? number(seen))
    job = Job(id: lastJob, schema: schema)
  }

  private mutating func leave() {
    isUsed = false
    if machine.cancelled() != nil { job = nil }
    _ = machine.lostLastClient(now: now)
  }

  private mutating func come() {
    isUsed = true
    machine.gotClient()
    if !machine.isFollowing { run() }
  }

  private mutating func changeSchema() {
    schema += 1
    if machine.outdated(shown: number(seen), due: .distantFuture) != nil { job = nil }
    isCompiling = true
  }

  private func number(_ state: Int) -> CommitNumber { CommitNumber(Int64(state), isExact: true) }

  private func name(_ state: Int) -> StateName { .wal(frames: state, generation: 0) }

  private mutating func check() {
    if machine.isFollowing, content != file[seen] { fault = "the list follows and is wrong" }
    if machine.isFollowing, contentSchema != schema { fault = "the list follows and is of a former schema" }
    if let job, job.schema != schema { fault = "a reader runs what was compiled for a former schema" }
    if machine.isRunning != (job != nil) { fault = "the machine and the reader disagree about a run" }
    if isUsed, !machine.isFollowing, job == nil, !isCompiling, machine.due.map({ $0 == .distantFuture }) ?? true {
      fault = "the list is forgotten"
    }
    for tick in seenAtTick.indices where machine.answers(askedAt: tick) {
      if !file[seenAtTick[tick]...].contains(content) { fault = "a request is answered by what was before it" }
    }
  }

  /// Lets everything succeed from now on, and checks that the list reaches the newest state.
  mutating func settle() {
    come()
    for _ in 0..<6 {
      for event in [Event.timePasses, .readerBegins, .readerTells, .readerEnds, .tick] { apply(event) }
    }
    if !machine.isFollowing { fault = fault ?? "the list does not come to the newest state" }
    if content != file[file.count - 1] { fault = fault ?? "the list is wrong in the end" }
    if machine.hasFailed { fault = fault ?? "the list has failed in the end" }
  }
}
