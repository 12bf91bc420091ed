import TestSupport
import Testing

@testable import Replication

/// A publisher's log in memory, and a broker that repeats and loses messages.
private struct LossyLog {
  var position: LogPosition
  var batches: [LogBatch] = []
  var messages: [LogMessage] = []

  init(epoch: String) {
    position = LogPosition(beginning: epoch, commit: 10)
    append(LogBatch(.beginning, epoch: epoch, began: 1, number: 0, commitBefore: 10, commit: 10, time: 0))
  }

  mutating func append(_ batch: LogBatch) {
    messages += LogMessage.parts(of: batch, after: position, longest: LogMessage.overhead + 16)
    if batch.number > 0 { position = position.after(batch) }
    batches.append(batch)
  }

  mutating func add(_ bytes: Int, _ generator: inout SeededGenerator, kind: LogBatch.Kind = .changes) {
    append(
      LogBatch(
        kind, epoch: position.epoch, began: 1, number: position.number + 1, commitBefore: position.commit,
        commit: position.commit + 1, time: 5,
        contents: (0..<bytes).map { _ in UInt8.random(in: 0...255, using: &generator) }))
  }
}

@Suite("The log's reader")
struct LogReaderTests {
  private static let start = LogPosition(beginning: "e", commit: 10)

  @Test("A message is read as it was written")
  func coding() throws {
    var generator = SeededGenerator(seed: 1)
    var log = LossyLog(epoch: "épöch")
    for bytes in [0, 1, 16, 17, 100] { log.add(bytes, &generator) }
    for message in log.messages {
      let read = message.bytes.withUnsafeBytes { LogMessage($0) }
      #expect(read == message)
      for end in 0..<70 where end < message.bytes.count - message.contents.count {
        #expect(message.bytes[..<end].withUnsafeBytes { LogMessage($0) } == nil, "cut after \(end)")
      }
    }
    #expect(log.messages.count { $0.number == 5 } == 7)
  }

  @Test(
    "Whatever a broker repeats and loses: batches are applied in order, each once, or the reader says that they cannot be"
  )
  func property() {
    let seed = UInt64.random(in: 0..<1_000_000)
    var (lost, whole) = (0, 0)
    for run in 0..<400 {
      var generator = SeededGenerator(seed: seed &+ UInt64(run))
      var log = LossyLog(epoch: "e")
      for _ in 0..<Int.random(in: 0...12, using: &generator) {
        log.add(Int.random(in: 0...60, using: &generator), &generator)
      }
      var reader = LogReader(after: Self.start)
      var applied: [LogBatch] = []
      var messages = log.messages
      // Messages are repeated in runs, and sometimes one is missing.
      for _ in 0..<Int.random(in: 0...3, using: &generator) {
        let from = Int.random(in: 0..<messages.count, using: &generator)
        let to = Int.random(in: from..<messages.count, using: &generator)
        messages.insert(contentsOf: messages[from...to], at: to + 1)
      }
      if Int.random(in: 0..<3, using: &generator) == 0 {
        messages.remove(at: Int.random(in: 0..<messages.count, using: &generator))
      }
      var loss: LogReader.Loss?
      for message in messages where loss == nil {
        switch reader.take(message) {
        case .nothing: break
        case .batch(let batch):
          applied.append(batch)
          reader.advance(past: batch)
        case .lost(let reason): loss = reason
        }
      }
      #expect(Array(log.batches.dropFirst().prefix(applied.count)) == applied, "seed \(seed) run \(run)")
      if loss == nil, messages.last == log.messages.last {
        #expect(reader.position == log.position || applied.count < log.position.number, "seed \(seed) run \(run)")
      }
      if loss == nil { whole += 1 } else { lost += 1 }
    }
    #expect(lost > 10 && whole > 100)
  }

  @Test("A gap, a fork, another epoch and a cut are told apart")
  func losses() {
    var generator = SeededGenerator(seed: 2)
    var log = LossyLog(epoch: "e")
    for _ in 0..<3 { log.add(5, &generator) }
    func outcome(_ messages: [LogMessage]) -> LogReader.Outcome? {
      var reader = LogReader(after: Self.start)
      var last: LogReader.Outcome?
      for message in messages {
        last = reader.take(message)
        if case .batch(let batch)? = last { reader.advance(past: batch) }
      }
      return last
    }
    #expect(outcome([log.messages[0], log.messages[2]]) == .lost(.gap))
    var forged = log.messages[1]
    forged.contents[forged.contents.startIndex] ^= 1
    #expect(outcome([log.messages[0], forged]) == .lost(.fork))
    var other = LossyLog(epoch: "other")
    other.add(5, &generator)
    #expect(outcome([log.messages[0], other.messages[0]]) == .lost(.epoch))
    // Before the position is found, messages of other epochs are skipped, because they may be older.
    #expect(outcome([other.messages[0], other.messages[1], log.messages[0]]) == .nothing)
    log.add(0, &generator, kind: .cut)
    #expect(outcome(log.messages) == .lost(.cut))
  }
}
