import LiveQuery
import TestSupport
import Testing

@testable import Controllers
@testable import Requests

/// Requests for snapshots whose clients leave before the answer: the work on them ends, whatever stage it has reached.
@Suite struct AbandonTests {
  private static let schema = """
    CREATE TABLE t(id INTEGER PRIMARY KEY, a);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60) INSERT INTO t SELECT i, 'x' FROM n;
    """
  private let list = Query(from: "t")
  private let refetched: Query = {
    var query = Query(from: "t")
    query.filter = "id < 3"
    query.select = ["a", "count(*) OVER () AS n"]
    return query
  }()

  private let fixture: FollowerFixture

  init() throws { fixture = try FollowerFixture(Self.schema, clock: ManualClock(), readers: 0) }

  private func ask(_ query: Query, id: UInt64) -> FollowerFixture.Answer {
    defer { fixture.settle() }
    return fixture.wait(query, unless: nil, for: .zero, id: id)
  }

  private func abandon(_ id: UInt64) {
    fixture.follower.post(.abandon(request: id))
    fixture.settle()
  }

  /// Two clients ask for the same. The first one leaves; then the second one leaves too, or gets its answer.
  private func checkBoth(_ query: Query) {
    let answers = [ask(query, id: 1), ask(query, id: 2)]
    #expect(fixture.readers.counts.waiting == 1)
    abandon(1)
    #expect(fixture.readers.counts.waiting == 1, "somebody else waits")
    abandon(2)
    #expect(fixture.readers.counts.waiting == 0)
    let last = ask(query, id: 3)
    fixture.runReaders()
    #expect(last.resultSoFar?.hasPrefix("1,") == true)
    #expect(answers.allSatisfy { $0.resultSoFar == nil })
  }

  @Test func `A query that is opened`() { checkBoth(list) }

  @Test func `A query that is run again`() throws {
    _ = ask(refetched, id: 9)
    fixture.runReaders()
    try fixture.writer.run("UPDATE t SET a = 'y' WHERE id = 1")
    checkBoth(refetched)
  }

  @Test func `Contents that a reader reads`() {
    fixture.subscribe(SubscriptionKey(session: 1, id: "a", number: 1), list, window: Window(offset: 0, limit: 1))
    fixture.runReaders()
    checkBoth(list)
  }

  @Test func `Contents that a subscription waits for, too`() {
    let key = SubscriptionKey(session: 1, id: "a", number: 1)
    fixture.subscribe(key, list, window: Window(offset: 0, limit: 1))
    fixture.runReaders()
    let second = SubscriptionKey(session: 2, id: "b", number: 1)
    fixture.subscribe(second, list)
    let answer = ask(list, id: 1)
    #expect(fixture.readers.counts.waiting == 1)
    abandon(1)
    #expect(fixture.readers.counts.waiting == 1)
    fixture.follower.post(.unsubscribe(second))
    fixture.settle()
    #expect(fixture.readers.counts.waiting == 0)
    #expect(answer.resultSoFar == nil)
  }

  @Test func `A wait for another version`() {
    fixture.subscribe(SubscriptionKey(session: 1, id: "a", number: 1), refetched)
    fixture.runReaders()
    let version = fixture.recorder.sent[0].version
    let answer = fixture.wait(refetched, unless: version, for: .seconds(20), id: 1)
    abandon(1)
    fixture.advance(by: .seconds(21))
    #expect(answer.resultSoFar == nil)
  }

  @Test func `A request that was not looked at`() {
    let snapshot = { (id: UInt64) in
      var request = FollowerCommand.SnapshotRequest(query: list, window: nil) { _ in }
      request.id = id
      return FollowerCommand.snapshot(request)
    }
    let thread = FollowerThread()
    var inbox = Inbox(thread)
    inbox.add([snapshot(1), snapshot(2), snapshot(3)])
    _ = inbox.next()
    inbox.add([.abandon(request: 2)])
    #expect(inbox.next()?.isRequest(3) == true)
    #expect(inbox.takeControl().count == 1)
    #expect(inbox.isEmpty)
    inbox.add([snapshot(4), .abandon(request: 4), snapshot(5)])
    #expect(inbox.next()?.isRequest(5) == true)
    #expect(inbox.next() == nil)
  }
}
