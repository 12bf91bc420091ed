import Broker
import Logging

/// Appends batches to the stream, and makes sure that they stay there.
///
/// Every message names the one that must be the stream's last. So if a message was lost although it was acknowledged,
/// the next one is refused, and the lost one is published again from memory. In the same way, only one of two
/// publishers continues.
///
/// Mutable state: the newest batches, and the message to append next.
///
/// Owner: the publisher's thread.
final class PublishedLog {
  /// A batch, and its messages.
  private struct Entry {
    let batch: LogBatch
    let parts: [LogMessage]
  }

  private let broker: BrokerConnection
  private let subjects: LogSubjects
  private let configuration: StreamConfiguration
  private let logger: Logger
  /// The newest, in order.
  private var entries: [Entry] = []
  private var bytes = 0
  /// The message to append next: the index of its entry, and its part.
  private var next = (entry: 0, part: 0)
  /// The number of the stream's last message; nil: not known yet.
  private(set) var lastSequence: UInt64?
  private var isDisturbed = false

  /// Bytes of batches that are kept to be published again.
  private static let kept = 32 << 20

  init(_ broker: BrokerConnection, _ settings: ReplicationSettings, logger: Logger) {
    self.broker = broker
    self.logger = logger
    subjects = settings.subjects
    var configuration = StreamConfiguration(name: subjects.log, subject: subjects.batches)
    configuration.replicas = settings.replicas
    configuration.bytes = settings.keptBytes
    configuration.age = settings.retainedSeconds
    self.configuration = configuration
  }

  /// Another publisher began later.
  struct Superseded: Error {}

  /// Queues a batch to be appended.
  func add(_ batch: LogBatch, after position: LogPosition) {
    let parts = LogMessage.parts(of: batch, after: position, longest: broker.longestMessage)
    entries.append(Entry(batch: batch, parts: parts))
    bytes += batch.contents.count
  }

  /// Whether everything was appended to the stream, as far as is known.
  var isComplete: Bool { next.entry == entries.count }

  /// Appends everything that is not in the stream yet. Returns when that is done, or when it is not possible now: then
  /// call it again.
  ///
  /// - Returns: whether everything is in the stream.
  /// - Throws: `Superseded`.
  func publish() throws(Superseded) -> Bool {
    do throws(BrokerError) {
      if lastSequence == nil { try findPlace() }
      while next.entry < entries.count {
        let message = entries[next.entry].parts[next.part]
        let sequence = try broker.append(message.bytes, to: subjects.batches, id: message.id, after: lastSequence)
        lastSequence = sequence
        next = next.part + 1 < entries[next.entry].parts.count ? (next.entry, next.part + 1) : (next.entry + 1, 0)
      }
      if isDisturbed { logger.notice("the log goes on", metadata: ["broker": "\(broker.address)"]) }
      isDisturbed = false
      forgetOldest()
      return true
    } catch {
      lastSequence = nil
      if error.reason == .superseded { throw Superseded() }
      if !isDisturbed, error.reason != .otherLast {
        logger.warning("the log waits for the broker: \(error.message)", metadata: ["broker": "\(broker.address)"])
        isDisturbed = true
      }
      return false
    }
  }

  /// Checks that the last appended message is still in the stream. To be called now and then while nothing is appended.
  func check() throws(Superseded) -> Bool {
    guard let expected = lastSequence, isComplete else { return try publish() }
    do throws(BrokerError) {
      if try broker.state(ofStream: subjects.log).last != expected { lastSequence = nil }
    } catch { lastSequence = nil }
    return try publish()
  }

  /// Whether the stream ends with the batch that led to a position, so that the next one can follow it. True for an
  /// empty stream too: it was lost, and can be continued.
  func ends(at position: LogPosition) throws(BrokerError) -> Bool {
    try broker.ensure(configuration)
    guard let last = try broker.lastMessage(to: subjects.batches, in: subjects.log) else { return true }
    guard let message = last.message.withBytes({ LogMessage($0) }) else { return false }
    return message.epoch == position.epoch && message.number == position.number && message.hash == position.hash
      && message.isLast
  }

  /// Finds the last message of the stream, and the message to append next.
  private func findPlace() throws(BrokerError) {
    try broker.ensure(configuration)
    let last = try broker.lastMessage(to: subjects.batches, in: subjects.log)
    let message = last.flatMap { stored in stored.message.withBytes { LogMessage($0) } }
    guard let last, let message, let oldest = entries.first else {
      // The stream is empty. Replicas that lack the batches from before need a snapshot.
      if let last { lastSequence = last.sequence } else { lastSequence = try broker.state(ofStream: subjects.log).last }
      next = (0, 0)
      return
    }
    if message.epoch != oldest.batch.epoch, message.began > oldest.batch.began { throw BrokerError(.superseded, "") }
    let before = next
    if message.epoch != oldest.batch.epoch || message.number < oldest.batch.number {
      next = (0, 0)
    } else {
      let entry = Int(min(message.number - oldest.batch.number, Int64(entries.count)))
      let parts = entry < entries.count ? entries[entry].parts.count : 0
      next = message.part + 1 < parts ? (entry, message.part + 1) : (min(entry + 1, entries.count), 0)
    }
    if next < before {
      logger.warning(
        "the broker has lost what it had acknowledged: it is published again",
        metadata: ["from": "\(entries[next.entry].batch.number)"])
    }
    lastSequence = last.sequence
  }

  private func forgetOldest() {
    var count = 0
    while count < entries.count - 1, bytes > Self.kept || entries.count - count > 10_000 {
      bytes -= entries[count].batch.contents.count
      count += 1
    }
    entries.removeFirst(count)
    next = (entries.count, 0)
  }
}
