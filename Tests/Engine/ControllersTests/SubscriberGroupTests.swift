import Controllers
import LiveQuery
import Requests
import TestSupport
import Testing

/// Subscriptions that form one group, separate, and form one group again.
@Suite struct SubscriberGroupTests {
  private static let schema = """
    CREATE TABLE t(id INTEGER PRIMARY KEY, a);
    INSERT INTO t SELECT value, value FROM json_each('[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20]');
    """
  private static let queries: [Query] = {
    var sorted = Query(from: "t")
    sorted.orderBy = ["a"]
    return [Query(from: "t"), sorted]
  }()
  private static let sessions = 1...8

  /// Two in each session.
  private static let keys = sessions.flatMap { session in
    ["a", "b"].enumerated().map { SubscriptionKey(session: UInt64(session), id: $1, number: UInt64($0 + 1)) }
  }

  @Test(arguments: 1...12) func `Everybody gets each change once, in order, whatever happens to the others`(
    seed: UInt64
  ) throws {
    var random = SeededGenerator(seed: seed)
    let fixture = try FollowerFixture(Self.schema, clock: ManualClock())
    var live: Set<SubscriptionKey> = []
    for step in 1...150 {
      let key = Self.keys.randomElement(using: &random)!
      let query = Self.queries.randomElement(using: &random)!
      switch Int.random(in: 0..<16, using: &random) {
      case 0..<6:
        let id = Int.random(in: 1...20, using: &random)
        try fixture.writer.run("UPDATE t SET a = \(100 + step) WHERE id = \(id)")
      case 6..<9:
        fixture.recorder.setDrained(Bool.random(using: &random), session: key.session)
        fixture.follower.requestTick()
      case 9:
        if live.remove(key) != nil { fixture.follower.post(.unsubscribe(key)) }
      case 10 where live.contains(key): fixture.follower.post(.request(key, .resync))
      case 11 where live.contains(key):
        let offset = Int.random(in: 0...3, using: &random)
        fixture.follower.post(.request(key, .window(Window(offset: offset, limit: 20))))
      case 12 where live.contains(key): fixture.follower.post(.request(key, .requery(query, nil)))
      default:
        if !live.insert(key).inserted { continue }
        let minInterval = [Duration.zero, .zero, .zero, .seconds(5)].randomElement(using: &random)!
        fixture.subscribe(key, query, window: Window(offset: 0, limit: 20), minInterval: minInterval)
      }
      if Bool.random(using: &random) { fixture.snapshot(query) }
      if Int.random(in: 0..<4, using: &random) == 0 { fixture.advance(by: .seconds(2)) }
    }
    for session in Self.sessions {
      fixture.recorder.setDrained(true, session: UInt64(session))
      fixture.follower.requestTick()
    }
    // All rows change: afterwards all subscribers of each query have the same version.
    for value in 1...2 {
      try fixture.writer.run("UPDATE t SET a = -id * \(value)")
      fixture.snapshot(Self.queries[0])
      fixture.advance(by: .seconds(5))
      fixture.snapshot(Self.queries[0])
    }
    for key in live { try check(key, fixture) }
    let last = Set(live.map { fixture.recorder.version(of: $0) })
    #expect(last.count <= Self.queries.count, "\(last)")
  }

  /// Checks that each patch continues from the message before it.
  private func check(_ key: SubscriptionKey, _ fixture: FollowerFixture) throws {
    var version = ""
    for sent in fixture.recorder.sent where sent.goes(to: key) {
      #expect(sent.recipients.flatMap(\.sessions).count { $0 == key.session } <= 2)
      #expect(sent.recipients.filter { $0.id == key.id }.flatMap(\.sessions).count { $0 == key.session } == 1)
      if sent.delivery.hasPrefix("patch") { #expect(sent.from == version, "\(key) \(sent.delivery)") }
      if !sent.version.isEmpty { version = sent.version }
    }
    #expect(!version.isEmpty)
  }

  @Test func `Who was held up is sent the same message as the others again, once it has caught up`() throws {
    let fixture = try FollowerFixture(Self.schema)
    let query = Self.queries[0]
    for key in Self.keys { fixture.subscribe(key, query) }
    #expect(try change(fixture) == [["a": 8, "b": 8]])
    fixture.recorder.setDrained(false, session: 1)
    fixture.recorder.setDrained(false, session: 2)
    #expect(try change(fixture) == [["a": 6, "b": 6]])
    fixture.recorder.setDrained(true, session: 1)
    #expect(try change(fixture) == [["a": 7, "b": 7]])
    fixture.recorder.setDrained(true, session: 2)
    #expect(try change(fixture) == [["a": 8, "b": 8]])
    fixture.follower.post(.sessionClosed(3))
    fixture.follower.post(.unsubscribe(SubscriptionKey(session: 4, id: "a", number: 1)))
    #expect(try change(fixture) == [["a": 6, "b": 7]])
  }

  /// Lets the sessions catch up that can, then changes all rows.
  ///
  /// - Returns: for each patch of a commit, how many sessions got it under each id.
  private func change(_ fixture: FollowerFixture) throws -> [[String: Int]] {
    fixture.snapshot(Self.queries[0])
    let before = fixture.recorder.sent.count
    try fixture.writer.run("UPDATE t SET a = a + 1")
    fixture.snapshot(Self.queries[0])
    return fixture.recorder.sent.dropFirst(before).filter { $0.delivery.hasPrefix("patch") }.map { sent in
      Dictionary(sent.recipients.map { ($0.id, $0.sessions.count) }, uniquingKeysWith: +)
    }
  }
}

extension Recorder {
  /// The last version that was sent to a subscription.
  fileprivate func version(of key: SubscriptionKey) -> String {
    sent.last { $0.goes(to: key) && !$0.version.isEmpty }?.version ?? ""
  }
}
