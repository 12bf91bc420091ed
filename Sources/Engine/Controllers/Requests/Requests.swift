import Store

/// What clients asked that cannot be answered yet: every such request, by what it waits for.
///
/// A request is in the table from when it is found that it has to wait until it is taken out: to be answered, to be refused, or
/// because its client has left. Those of a list are taken out in the order in which they came.
///
/// Pure: no SQLite, no threads, no clock. Owner: the follower's thread.
struct Requests<Subject> {
  /// What a request waits for.
  enum State: Equatable {
    /// A list that shows a state not older than the one at which it was asked: how many ticks had seen changes then.
    case list(asked: Int)
    /// Contents that a reader's job reads.
    case contents(job: UInt64)
    /// Another version than the client has, or the deadline.
    case change(deadline: Instant)
  }

  /// A client, as far as requests are concerned: what all of its requests are withdrawn by.
  enum Client: Hashable {
    /// A subscription, which waits for one thing at a time.
    case subscription(SubscriptionKey)
    /// A request without a subscription.
    case request(UInt64)
  }

  struct Entry {
    /// Of the query that it concerns.
    let list: Int
    var state: State
    /// Nil: the request is never withdrawn.
    let client: Client?
    var subject: Subject
    /// Grows with each entry.
    fileprivate let order: UInt64
  }

  private var entries: [UInt64: Entry] = [:]
  /// By list, in the order in which they came.
  private var byList: [Int: [UInt64]] = [:]
  private var byClient: [Client: UInt64] = [:]
  private var bySession: [UInt64: Set<SubscriptionKey>] = [:]
  private var lastOrder: UInt64 = 0

  var isEmpty: Bool { entries.isEmpty }
  var count: Int { entries.count }

  /// Whether a request concerns a list.
  func concerns(_ list: Int) -> Bool { !entries.isEmpty && byList[list] != nil }

  /// What requests that concern a list wait for, in the order in which they came.
  func waiting(for list: Int) -> [Entry] {
    if entries.isEmpty { return [] }
    return (byList[list] ?? []).compactMap { entries[$0] }
  }

  /// The request of a client; nil: none waits.
  func entry(of client: Client) -> Entry? { entries.isEmpty ? nil : byClient[client].flatMap { entries[$0] } }

  /// Puts a request into the table. A client has one request there at most: one that it had is replaced.
  mutating func add(_ subject: Subject, of client: Client?, for list: Int, _ state: State) {
    lastOrder += 1
    insert(Entry(list: list, state: state, client: client, subject: subject, order: lastOrder))
  }

  /// Puts a request back that was taken out, in the place that it had.
  mutating func putBack(_ entry: Entry) { insert(entry) }

  private mutating func insert(_ entry: Entry) {
    if let client = entry.client {
      _ = remove(client)
      byClient[client] = entry.order
      if case .subscription(let key) = client { bySession[key.session, default: []].insert(key) }
    }
    entries[entry.order] = entry
    var orders = byList[entry.list] ?? []
    orders.insert(entry.order, at: orders.lastIndex { $0 < entry.order }.map { $0 + 1 } ?? 0)
    byList[entry.list] = orders
  }

  /// Changes what a client's request asks for, in its place.
  mutating func update(_ client: Client, _ change: (inout Subject) -> Void) {
    guard let order = byClient[client] else { return }
    change(&entries[order]!.subject)
  }

  /// Withdraws a client's request.
  mutating func remove(_ client: Client) -> Entry? {
    if entries.isEmpty { return nil }
    guard let order = byClient[client], let entry = entries.removeValue(forKey: order) else { return nil }
    leave(entry)
    return entry
  }

  /// Takes out the requests of a list that are in states of some kind, in the order in which they came.
  mutating func take(for list: Int, where isWanted: (Entry) -> Bool) -> [Entry] {
    if entries.isEmpty { return [] }
    var taken: [Entry] = []
    for order in byList[list] ?? [] {
      guard let entry = entries[order], isWanted(entry) else { continue }
      entries[order] = nil
      taken.append(entry)
    }
    for entry in taken { leave(entry) }
    return taken
  }

  private mutating func leave(_ entry: Entry) {
    if let client = entry.client {
      byClient[client] = nil
      if case .subscription(let key) = client {
        bySession[key.session]?.remove(key)
        if bySession[key.session]?.isEmpty == true { bySession[key.session] = nil }
      }
    }
    byList[entry.list]?.removeAll { $0 == entry.order }
    if byList[entry.list]?.isEmpty == true { byList[entry.list] = nil }
  }

  /// Changes what a list's requests wait for, in their places.
  mutating func update(for list: Int, _ change: (inout Entry) -> Void) {
    for order in byList[list] ?? [] { change(&entries[order]!) }
  }

  /// The clients that are subscriptions of a session.
  func subscriptions(of session: UInt64) -> [SubscriptionKey] {
    bySession[session].map(Array.init) ?? []
  }

  /// Takes out everything.
  mutating func takeAll() -> [Entry] {
    defer {
      entries = [:]
      byList = [:]
      byClient = [:]
      bySession = [:]
    }
    return entries.values.sorted { $0.order < $1.order }
  }
}

extension Requests.State {
  var asked: Int? { if case .list(let asked) = self { asked } else { nil } }
  /// Whether it is for contents that a job reads; nil: whichever.
  func isContents(of job: UInt64? = nil) -> Bool {
    if case .contents(let read) = self { job.map { $0 == read } ?? true } else { false }
  }
  var deadline: Instant? { if case .change(let deadline) = self { deadline } else { nil } }
}
