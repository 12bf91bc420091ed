import Ground
import LiveQuery
import Store

/// Outcomes of transactions that their clients have named (`once`), so that a repeat is answered and not run again.
///
/// Pure: its owner passes the time, and calls the replies that it returns. Every operation is O(1), forgetting
/// amortised.
struct TransactionMemory {
  typealias Outcome = Result<CommittedTransaction, FreshetError>
  typealias Reply = @Sendable (Outcome) -> Void

  /// The client, and its name for the transaction.
  struct Key: Hashable, Sendable {
    let asker: Identity
    let once: String

    /// - Parameter identity: two tokens of one subject are one asker; clients without one are all the same.
    init(_ once: String, of identity: Identity) {
      self.once = once
      asker = identity.asker
    }

    fileprivate var bytes: Int { once.utf8.count }
  }

  enum Admission {
    /// It must be run; `finished` reports how it ended.
    case run
    /// It runs: the reply comes with its outcome.
    case wait
    case known(Outcome)
  }

  private enum Entry {
    /// - Parameter 0: replies to the clients that have repeated it.
    case running([Reply])
    case ended(Outcome)
  }

  private struct Ended {
    let key: Key
    let time: Instant
    let bytes: Int
  }

  /// Memory of an outcome in addition to its names and values: a safe estimate.
  static let bytesPerOutcome = 512
  /// Results that take more are not kept.
  static let longestResults = 16 << 10
  /// This many are kept however old they are, if memory allows it.
  static let newest = 10_000
  /// Outcomes younger than this are kept however many they are, if memory allows it.
  static let age = Duration.seconds(600)

  private let limit: Int
  private var entries: [Key: Entry] = [:]
  /// In the order in which they ended; those before `first` are forgotten.
  private var ended: [Ended] = []
  private var first = 0
  /// The size of all finished transactions.
  private(set) var bytes = 0

  /// - Parameter limit: of the bytes of outcomes.
  init(limit: Int) { self.limit = limit }

  /// Known outcomes.
  var count: Int { ended.count - first }

  mutating func admit(_ key: Key, _ reply: @escaping Reply) -> Admission {
    switch entries[key] {
    case nil:
      entries[key] = .running([])
      return .run
    case .running(let replies):
      entries[key] = .running(replies + [reply])
      return .wait
    case .ended(let outcome): return .known(outcome)
    }
  }

  /// Records how a transaction ended.
  ///
  /// - Returns: the replies to the clients that have repeated it meanwhile.
  mutating func finished(_ key: Key, _ outcome: Outcome, at now: Instant) -> [Reply] {
    guard case .running(let replies)? = entries[key] else { return [] }
    if let kept = Self.remembered(outcome) {
      let bytes = Self.bytesPerOutcome + key.bytes + kept.bytes
      entries[key] = .ended(kept)
      ended.append(Ended(key: key, time: now, bytes: bytes))
      self.bytes += bytes
      forgetOld(now)
    } else {
      entries[key] = nil
    }
    return replies
  }

  /// Adds the outcome of a transaction in another process.
  mutating func add(_ key: Key, _ outcome: Outcome, at now: Instant) {
    if case .run = admit(key, { _ in }) { _ = finished(key, outcome, at: now) }
  }

  /// Finished transactions, the oldest first.
  var outcomes: [(Key, Outcome)] {
    var outcomes: [(Key, Outcome)] = []
    forEach { key, outcome in if let outcome { outcomes.append((key, outcome)) } }
    return outcomes
  }

  /// The outcome of a transaction; nil: unknown, or it runs.
  func outcome(of key: Key) -> Outcome? {
    if case .ended(let outcome)? = entries[key] { outcome } else { nil }
  }

  /// Calls `body` for all transactions: the ended ones in their order, and the running ones with a nil outcome.
  func forEach(_ body: (Key, Outcome?) -> Void) {
    for ended in ended[first...] {
      if case .ended(let outcome)? = entries[ended.key] { body(ended.key, outcome) }
    }
    for (key, entry) in entries { if case .running = entry { body(key, nil) } }
  }

  /// Forgets the outcomes, because they belong to another epoch.
  mutating func forget() {
    for index in first..<ended.count { entries[ended[index].key] = nil }
    ended = []
    first = 0
    bytes = 0
  }

  private mutating func forgetOld(_ now: Instant) {
    while first < ended.count {
      let oldest = ended[first]
      guard bytes > limit || (count > Self.newest && oldest.time + Self.age <= now) else { break }
      entries[oldest.key] = nil
      bytes -= oldest.bytes
      first += 1
    }
    if first > 1_000, first > ended.count / 2 {
      ended.removeFirst(first)
      first = 0
    }
  }

  /// The part of an outcome that is remembered; nil: none, because a repeat may succeed later.
  private static func remembered(_ outcome: Outcome) -> Outcome? {
    switch outcome {
    // `internal` errors are remembered: the transaction may have been written, and a second run could write it twice.
    case .failure(let error): return error.code.isRetryable && error.code != .internal ? nil : outcome
    case .success(var committed):
      if committed.bytes > longestResults { committed.results = nil }
      return .success(committed)
    }
  }
}

extension Result<CommittedTransaction, FreshetError> {
  fileprivate var bytes: Int {
    switch self {
    case .success(let committed): committed.bytes
    case .failure(let error): error.message.utf8.count
    }
  }
}

extension CommittedTransaction {
  /// The memory of its results, as an estimate.
  fileprivate var bytes: Int {
    (results ?? []).reduce(0) { sum, result in
      let names = result.columns.reduce(64) { $0 + 32 + $1.utf8.count }
      return result.rows.reduce(sum + names) { $1.reduce($0 + 32) { $0 + $1.bytes } }
    }
  }
}

extension SQLValue {
  fileprivate var bytes: Int {
    switch self {
    case .text(let text): 32 + text.utf8.count
    case .blob(let bytes): 32 + bytes.count
    default: 32
    }
  }
}
