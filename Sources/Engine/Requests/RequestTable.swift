package import Ground
import Store

/// The requests of a follower that cannot be answered yet, with the reason why each waits.
///
/// A request enters the table when it turns out that it must wait. It leaves when it is answered or refused, or when
/// its client has left. A list's requests leave in the order in which they came.
///
/// It uses no SQLite, threads or clock. Owner: the follower's thread.
package struct RequestTable {
  /// The reason why a request waits.
  package enum State: Equatable {
    /// It waits for a list to show a state that is not older than the request. `asked` is the number of ticks that had
    /// seen changes when the request was made.
    case list(asked: Int)
    /// It waits for the contents that this reader's job reads.
    case contents(job: UInt64)
    /// It waits for another version than the client's, or for the deadline.
    case change(deadline: Instant)
  }

  /// The client of a request, by which its requests are withdrawn.
  package enum Client: Hashable {
    /// A subscription, which waits for one answer at a time.
    case subscription(SubscriptionKey)
    /// A request without a subscription.
    case request(UInt64)
  }

  package struct Entry {
    /// The number of the query that the request concerns.
    package let list: Int
    package var state: State
    /// The client; nil if the request is never withdrawn.
    let client: Client?
    package var subject: WaitingRequest
    /// A number that increases with each entry.
    fileprivate let order: UInt64
  }

  private var entries: [UInt64: Entry] = [:]
  /// The entries of each list, in the order in which they were added.
  private var byList: [Int: [UInt64]] = [:]
  private var byClient: [Client: UInt64] = [:]
  private var bySession: [UInt64: Set<SubscriptionKey>] = [:]
  private var lastOrder: UInt64 = 0

  package init() {}

  package var isEmpty: Bool { entries.isEmpty }
  var count: Int { entries.count }

  /// Whether a request concerns a list.
  package func concerns(_ list: Int) -> Bool { !entries.isEmpty && byList[list] != nil }

  /// A list's requests, in the order in which they came.
  package func waiting(for list: Int) -> [Entry] {
    if entries.isEmpty { return [] }
    return (byList[list] ?? []).compactMap { entries[$0] }
  }

  /// The waiting request of a client; nil if it has no waiting request.
  package func entry(of client: Client) -> Entry? { entries.isEmpty ? nil : byClient[client].flatMap { entries[$0] } }

  /// Adds a request. It replaces an earlier request of the same client.
  package mutating func add(_ subject: WaitingRequest, of client: Client?, for list: Int, _ state: State) {
    lastOrder += 1
    insert(Entry(list: list, state: state, client: client, subject: subject, order: lastOrder))
  }

  /// Puts back a request that was taken out, at its former position.
  package mutating func putBack(_ entry: Entry) { insert(entry) }

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

  /// Changes a client's request, and keeps its position.
  package mutating func update(_ client: Client, _ change: (inout WaitingRequest) -> Void) {
    guard let order = byClient[client] else { return }
    change(&entries[order]!.subject)
  }

  /// Withdraws a client's request.
  package mutating func remove(_ client: Client) -> Entry? {
    if entries.isEmpty { return nil }
    guard let order = byClient[client], let entry = entries.removeValue(forKey: order) else { return nil }
    leave(entry)
    return entry
  }

  /// Takes a list's matching requests out, in the order in which they came.
  package mutating func take(for list: Int, where isWanted: (Entry) -> Bool) -> [Entry] {
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

  /// Changes a list's requests and the reasons why they wait, and keeps their positions.
  package mutating func update(for list: Int, _ change: (inout Entry) -> Void) {
    for order in byList[list] ?? [] { change(&entries[order]!) }
  }

  /// The session's subscriptions that have a request in the table.
  package func subscriptions(of session: UInt64) -> [SubscriptionKey] {
    bySession[session].map(Array.init) ?? []
  }
}

extension RequestTable.State {
  package var asked: Int? { if case .list(let asked) = self { asked } else { nil } }
  /// Whether a request waits for the contents that this job reads.
  package func isContents(of job: UInt64) -> Bool { self == .contents(job: job) }
  package var deadline: Instant? { if case .change(let deadline) = self { deadline } else { nil } }
}
