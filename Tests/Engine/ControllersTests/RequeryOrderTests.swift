import Controllers
import Following
import LiveQuery
import Logging
import Requests
import TestSupport
import Testing

/// A list that is run again shows older states than others: an answer must not show one from before the last message.
@Suite struct RequeryOrderTests {
  private let key = SubscriptionKey(session: 1, id: "a", number: 1)

  /// - Parameter select: the SELECT of the requested list: one is followed, the other is run again.
  @Test(arguments: ["n", "sum(n) OVER (ORDER BY id) AS s"])
  func `The commits that a subscription is sent never fall`(select: String) throws {
    let folder = try TemporaryFolder()
    let shell = SQLiteShell(path: folder.path("t.sqlite"))
    try shell.run(
      "PRAGMA journal_mode = WAL; CREATE TABLE t(id INTEGER PRIMARY KEY, n INT); INSERT INTO t VALUES (1, 1), (2, 2)")
    let recorder = Recorder()
    var configuration = FollowerConfiguration(path: shell.path)
    configuration.refetchInterval = .zero
    let follower = try SteppedFollower(
      configuration, output: recorder, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    let first = Query(from: "t")
    var second = first
    second.select = ["id", select]
    follower.post(
      .subscribe(.init(key: key, query: first, window: nil, minInterval: .zero, shape: .arrays)))
    follower.step()
    for number in 0..<20 {
      follower.post(.request(key, .requery(number.isMultiple(of: 2) ? second : first, nil)))
      follower.tick()
      // The reader sees this state, while the client's list advances to the next one.
      try shell.run("UPDATE t SET n = n + 1 WHERE id = 1")
      follower.runReaders()
      try shell.run("UPDATE t SET n = n + 1 WHERE id = 2")
      follower.requestTick()
      follower.tick()
      follower.step()
    }
    let commits = recorder.sent.filter { $0.goes(to: key) }.compactMap(\.commit)
    #expect(commits.count > 20)
    #expect(commits == commits.sorted())
    #expect(recorder.ended.isEmpty)
  }

  /// The run begins in one state. While it runs, the client is sent the next state.
  @Test func `A slow query is not answered in a state from before the last patch`() throws {
    let fixture = try FollowerFixture(
      "CREATE TABLE t(id INTEGER PRIMARY KEY, n INT); INSERT INTO t VALUES (1, 1), (2, 2)")
    let first = Query(from: "t")
    var slow = first
    slow.select = [
      "id",
      "sum(n) OVER (ORDER BY id) + (WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 1000000) SELECT count(*) FROM c) AS s",
    ]
    fixture.subscribe(key, first)
    fixture.snapshot(first)
    fixture.follower.post(.request(key, .requery(slow, nil)))
    // When the follower has answered this, the reader has begun.
    fixture.settle()
    try fixture.writer.run("UPDATE t SET n = n + 1")
    fixture.snapshot(first)
    let patches = fixture.recorder.deliveries(key).count
    fixture.snapshot(slow)
    let commits = fixture.recorder.sent.filter { $0.goes(to: key) }.compactMap(\.commit)
    #expect(patches == 2 && commits.count == 3, "\(fixture.recorder.deliveries(key))")
    #expect(commits == commits.sorted())
    // The list gets later changes.
    try fixture.writer.run("UPDATE t SET n = n + 1 WHERE id = 1")
    fixture.snapshot(slow)
    #expect(fixture.recorder.deliveries(key).count == 4)
  }
}
