import LiveClient
import LiveQuery
import TestSupport
import Testing
import Wire

/// What the client does about everything that can happen to a connection.
@Suite struct WatchSessionTests {
  private static let snapshot = """
    {"type":"snapshot","id":"w","version":"v1","commit":4,"columns":["id"],"total":9,
     "sections":[{"name":"","indexTitle":"","count":9}],"window":{"offset":0,"limit":2},"offset":0,"rows":[[1],[2]],
     "complete":true}
    """
  private var generator = SeededGenerator(seed: 1)

  private func session(_ window: Window? = Window(offset: 0, limit: 2)) -> WatchSession {
    WatchSession(address: "here", query: .object(["from": .string("t")]), window: window)
  }

  private func bytes(_ message: String) -> [UInt8] { Array(message.utf8) }

  private func live() -> WatchSession {
    var session = session()
    _ = session.start()
    _ = session.opened()
    _ = session.received(bytes(Self.snapshot))
    return session
  }

  private func sent(_ actions: [WatchSession.Action]) throws -> [JSONValue] {
    try actions.compactMap { action in
      guard case .send(let text) = action else { return nil }
      return try JSONParser.parse(text)
    }
  }

  @Test func `It subscribes when the connection stands`() throws {
    var session = session()
    #expect(session.start() == [.connect] && session.status == .connecting)
    #expect(
      session.opened() == [
        .send(#"{"id":"w","query":{"from":"t"},"type":"subscribe","window":{"limit":2,"offset":0}}"#)
      ])
    #expect(session.received(bytes(#"{"type":"hello","later":1}"#)) == [])
    #expect(session.received(bytes(Self.snapshot)) == [.show(.replaced)] && session.status == .live)
    #expect(session.received(bytes(#"{"type":"snapshot","id":"another"}"#)) == [])
    var whole = self.session(nil)
    #expect(try sent(whole.opened())[0]["window"] == nil)
  }

  @Test mutating func `A connection that never stood is a failure`() {
    var session = session()
    _ = session.start()
    #expect(
      session.closed(code: 0, reason: "nobody answers", using: &generator)
        == [.fail("cannot connect to here: nobody answers")])
  }

  @Test mutating func `A lost connection is tried again, longer and longer, and resumed`() throws {
    var session = live()
    var waits: [Int] = []
    for _ in 0..<9 {
      for action in session.closed(code: 1001, reason: "", using: &generator) {
        if case .wait(let milliseconds) = action { waits.append(milliseconds) }
      }
      #expect(session.status == .waiting && session.retry() == [.connect] && session.retry() == [])
    }
    for (wait, due) in zip(waits, [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]) {
      #expect((due / 2...due).contains(wait))
    }
    let subscribe = try sent(session.opened())[0]
    #expect(subscribe["since"] == .string("v1"))
    #expect(subscribe["window"] == .object(["offset": .integer(0), "limit": .integer(2)]))
    let patch =
      #"{"type":"patch","id":"w","from":"v1","to":"v2","commit":5,"total":9,"updated":[[[0,0],[0,0],{"id":7}]]}"#
    #expect(session.received(bytes(patch)).count == 1 && session.list.version == "v2")
    guard case .wait(let first) = session.closed(code: 1006, reason: "", using: &generator).last else {
      Issue.record("it does not try again")
      return
    }
    #expect(first <= 500, "from the beginning, once it went well")
  }

  @Test mutating func `A token goes first, on every connection, and one that is refused is the end`() throws {
    var session = WatchSession(
      address: "here", query: .object(["from": .string("t")]), window: nil, token: AccessToken("abc"))
    for _ in 0..<2 {
      let messages = try sent(session.opened())
      #expect(messages.map { $0["type"] } == [.string("authenticate"), .string("subscribe")])
      #expect(messages[0]["token"] == .string("abc"))
      let authenticated = #"{"type":"authenticated","id":"t","role":"clerk","expires":null}"#
      #expect(session.received(bytes(authenticated)).isEmpty)
      _ = session.closed(code: 1006, reason: "", using: &generator)
      _ = session.retry()
    }
    let error = #"{"type":"error","id":"t","code":"unauthenticated","message":"no","retryable":false,"fatal":false}"#
    #expect(session.received(bytes(error)) == [.fail("unauthenticated: no")])
  }

  @Test mutating func `An unfinished snapshot is not resumed`() throws {
    var session = session()
    _ = session.opened()
    _ = session.received(bytes(Self.snapshot.replacing("true", with: "false")))
    _ = session.closed(code: 1006, reason: "", using: &generator)
    _ = session.retry()
    #expect(try sent(session.opened())[0]["since"] == nil)
  }

  @Test(arguments: [4401, 4400, 1009] as [UInt16])
  mutating func `Some closes are final`(code: UInt16) {
    var session = live()
    #expect(
      session.closed(code: code, reason: "no", using: &generator)
        == [.fail("the server closed the connection (\(code)): no")])
  }

  @Test func `Errors that end the subscription end the program`() {
    var session = live()
    let mild = #"{"type":"error","id":"w","code":"timeout","message":"slow","retryable":true,"fatal":false}"#
    #expect(session.received(bytes(mild)) == [.warn("timeout: slow")])
    let fatal = #"{"type":"error","id":"w","code":"schema_changed","message":"gone","retryable":false,"fatal":true}"#
    #expect(session.received(bytes(fatal)) == [.fail("schema_changed: gone")])
    var refused = self.session()
    _ = refused.opened()
    #expect(refused.received(bytes(mild)) == [.fail("timeout: slow")], "there is no list to go on with")
    #expect(refused.received(bytes("nonsense")) == [.warn("the server sent something that is no JSON object")])
  }

  @Test func `What does not fit is asked for anew`() throws {
    var session = live()
    let patch = #"{"type":"patch","id":"w","from":"v9","to":"v2","commit":5,"total":9}"#
    let actions = session.received(bytes(patch))
    #expect(try sent(actions) == [.object(["type": .string("resync"), "id": .string("w")])])
    #expect(session.received(bytes(Self.snapshot)) == [.show(.replaced)])
  }

  @Test func `While a window is on its way only the last wish is kept`() throws {
    var session = live()
    let first = try sent(session.move(to: 3, limit: 2))
    #expect(first.count == 1 && first[0]["offset"] == .integer(3))
    #expect(session.move(to: 4, limit: 2) == [] && session.move(to: 5, limit: 2) == [])
    #expect(session.wantedWindow == Window(offset: 5, limit: 2))
    let rows = #"{"type":"rows","id":"w","version":"v1","window":{"offset":3,"limit":2},"offset":3,"rows":[[4],[5]]}"#
    let next = try sent(session.received(bytes(rows)))
    #expect(next.count == 1 && next[0]["offset"] == .integer(5))
    #expect(session.list.window == Window(offset: 3, limit: 2))
    _ = session.received(bytes(rows.replacing("\"offset\":3", with: "\"offset\":5")))
    #expect(session.move(to: 5, limit: 2) == [], "that is where it stands")
    #expect(try sent(session.move(to: 99, limit: 2))[0]["offset"] == .integer(8))
  }
}
