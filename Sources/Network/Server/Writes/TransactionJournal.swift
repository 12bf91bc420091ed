import ChangeCapture
import Following
import Ground
import LiveQuery
package import Logging
import Synchronization
import Wire

/// Outcomes of transactions that clients have named (`once`), written to the disk at once, so that a killed process
/// loses no promise.
/// A name is written before its transaction begins, and its outcome before the client gets it. A name without an
/// outcome belongs to a transaction that may or may not be in the file. Writes are not synced: the file outlives the
/// process, and the machine only after an orderly end, which removes it, because the last state then has everything
/// (`StateKeeper`).
///
/// Any thread. Mutable state, in a mutex: the log.
package final class TransactionJournal: Sendable {
  /// The contents left by an earlier process.
  private struct Found {
    let epoch: String
    let isOfThisStart: Bool
    let records: [JSONValue]
  }

  private let path: String
  private let logger: Logger
  private let found: Found?
  private let state = Mutex(State())

  private struct State: ~Copyable {
    /// Nil: not begun, or given up after an error.
    var log: RecordLog?
    var hasFailed = false
  }

  /// Reads the file of an earlier process.
  ///
  /// - Parameter state: the path of the state that it goes with.
  package init(besides state: String, logger: Logger) {
    path = state + ".once"
    self.logger = logger
    do throws(StateFailure) { found = try Self.read(path) } catch {
      logger.warning("what is known of transactions cannot be used: \(error)")
      found = Found(epoch: "", isOfThisStart: false, records: [])
    }
  }

  private static func read(_ path: String) throws(StateFailure) -> Found? {
    guard let records = try RecordLog.records(path) else { return nil }
    let parsed = records.map { try? JSONParser.parse($0) }
    guard let head = parsed.first ?? nil, let epoch = try? head.required("epoch").text(),
      let start = try? head.required("start").text()
    else { return Found(epoch: "", isOfThisStart: false, records: []) }
    return Found(
      epoch: epoch, isOfThisStart: MachineStart.isCurrent(start), records: parsed.dropFirst().compactMap(\.self))
  }

  /// Whether this file has all outcomes that clients of an epoch may ask for.
  func continues(_ epoch: String) -> Bool { found.map { $0.isOfThisStart && $0.epoch == epoch } ?? true }

  /// Outcomes of earlier processes of the epoch, the oldest first.
  func outcomes(of epoch: String) -> [(TransactionMemory.Key, TransactionMemory.Outcome)] {
    guard let found, found.isOfThisStart, found.epoch == epoch else { return [] }
    var outcomes: [TransactionMemory.Key: TransactionMemory.Outcome] = [:]
    var order: [TransactionMemory.Key] = []
    for record in found.records {
      guard let key = try? TransactionMemory.Key(record) else { continue }
      if outcomes[key] == nil { order.append(key) }
      outcomes[key] = record["outcome"].flatMap { try? ForwardedOutcome($0).outcome } ?? .failure(Self.unknown)
      if record["isForgotten"] != nil { outcomes[key] = nil }
    }
    return order.compactMap { key in outcomes[key].map { (key, $0) } }
  }

  private static let unknown = FreshetError(
    .internal, "the server was killed while the transaction ran: check whether it is there before you repeat it")

  /// Begins a file with the known outcomes, and removes the former one.
  ///
  /// - Returns: false if outcomes cannot be kept.
  @discardableResult
  func begin(_ epoch: String, _ known: [(TransactionMemory.Key, TransactionMemory.Outcome)]) -> Bool {
    var head = JSONWriter()
    head.object { object in
      object.member("epoch", epoch)
      object.member("start", MachineStart.name)
    }
    let records = [head.bytes] + known.map { Self.record($0, $1) }
    return state.withLock { state in
      if state.hasFailed { return false }
      do throws(StateFailure) { state.log = try RecordLog.begin(path, records) } catch { fail(&state, error) }
      return !state.hasFailed
    }
  }

  /// Whether this process has not written anything yet.
  var isUntouched: Bool { state.withLock { $0.log == nil && !$0.hasFailed } }

  /// Whether all that was noted is on the disk.
  var isKept: Bool { state.withLock { !$0.hasFailed } }

  /// Notes that a transaction is about to begin.
  ///
  /// - Returns: false if the note could not be written.
  func note(_ key: TransactionMemory.Key) -> Bool { append(Self.record(key, nil)) }

  /// Notes that a transaction has ended, before its client gets the outcome.
  ///
  /// - Parameter outcome: nil: it may be run again.
  func note(_ key: TransactionMemory.Key, _ outcome: TransactionMemory.Outcome?) {
    _ = append(outcome.map { Self.record(key, $0) } ?? Self.record(key, nil, isForgotten: true))
  }

  /// Bytes of the file.
  var byteCount: Int { state.withLock { $0.log?.byteCount ?? 0 } }

  /// Removes the file, because the last state has everything.
  package func remove() {
    state.withLock { state in
      state.log = nil
      unlink(path)
    }
  }

  private func append(_ record: [UInt8]) -> Bool {
    state.withLock { state in
      do throws(StateFailure) { try state.log?.append([record]) } catch { fail(&state, error) }
      return state.log != nil
    }
  }

  private func fail(_ state: inout State, _ failure: StateFailure) {
    logger.warning("what comes of transactions cannot be kept: \(failure)")
    state.log = nil
    state.hasFailed = true
    unlink(path)
  }

  private static func record(
    _ key: TransactionMemory.Key, _ outcome: TransactionMemory.Outcome?, isForgotten: Bool = false
  ) -> [UInt8] {
    var writer = JSONWriter()
    writer.object { object in
      object.members(of: key)
      if isForgotten { object.member("isForgotten", true) }
      guard let outcome else { return }
      object.name("outcome")
      object.append(ForwardedOutcome(outcome, epoch: "").json)
    }
    return writer.bytes
  }
}

/// Keeps outcomes of transactions for the next process: in states at an orderly end, and in the journal until then.
struct KeptTransactions: Sendable {
  let keeper: StateKeeper
  let journal: TransactionJournal

  /// - Parameter promises: all outcomes, for the last state; nil: some transactions have none yet, and the journal says
  ///   which.
  func keep(_ promises: [UInt8]?) { keeper.end(withPromises: promises ?? (journal.isKept ? keeper.promises : nil)) }
}

extension JSONWriter {
  /// A client's name for a transaction, and the client.
  mutating func members(of key: TransactionMemory.Key) {
    member("once", key.once)
    member("asker", key.asker)
  }
}

extension TransactionMemory.Key {
  /// Reads the output of `JSONWriter.members`.
  init(_ json: JSONValue) throws(FreshetError) {
    self.init(try json.required("once").text(), of: try Identity(json.required("asker")))
  }
}
