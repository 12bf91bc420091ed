import LiveQuery
import Testing
import Wire

@Suite struct ClientMessageTests {
  private func parse(_ text: String) throws(ClientMessageError) -> (String, ClientMessage) {
    let bytes = Array(text.utf8)
    let result: Result<(String, ClientMessage), ClientMessageError> = bytes.withUnsafeBytes { bytes in
      do throws(ClientMessageError) { return .success(try ClientMessage.parse(bytes)) } catch { return .failure(error) }
    }
    return try result.get()
  }

  @Test func `What clients write is what servers read`() throws {
    var query = Query(
      from: "t", select: ["a"], where: "a > :x", parameters: ["x": 5, "y": .blob([1])], groupBy: ["a"], having: "1",
      orderBy: ["a DESC"], sectionBy: .init("b", isDescending: true, name: "c", indexTitle: "d"), limit: 3, key: ["a"],
      totals: ["t": "count(*)", "s": "sum(a)"], alongside: ["n": "SELECT 1", "m": "SELECT 2"], refreshEvery: .seconds(2)
    )
    let window = Window(offset: 1, limit: 2)
    var messages: [ClientMessage] = [
      .subscribe(.init(.adHoc(query), window: window, since: "v", minInterval: .milliseconds(7), shape: .objects)),
      .requery(.published(name: "q", parameters: ["x": 1]), window), .window(window), .fetch(window), .locate([1]),
      .locate([nil, "x"]), .resync, .unsubscribe, .ping, .authenticate(AccessToken("t")),
      .transact(.own([.init(sql: "SELECT ?", parameters: [1.5])]), once: "o"),
      .transact(.published(name: "s", parameters: [:]), once: nil),
    ]
    query.parameters = [.integer(.max)]
    messages.append(.requery(.adHoc(query), nil))
    for message in messages {
      let text = message.text(id: "i")
      let (id, read) = try text.withUnsafeBytes { try ClientMessage.parse($0) }
      #expect(id == "i")
      #expect(read.text(id: "i") == text, "\(String(decoding: text, as: UTF8.self))")
    }
  }

  @Test func readsASubscription() throws {
    let (id, message) = try parse(
      """
      {"type":"subscribe","id":"a","minInterval":100.0,"shape":"objects","window":{"limit":50},"unknown":[1],
       "query":{"from":" t ","select":"id","where":"a = :x","params":{"x":{"$int":"5"}},"orderBy":["a DESC"],
                "sectionBy":{"by":"b","order":"desc","indexTitle":"upper(b)"},"limit":3,"key":["id"]}}
      """)
    guard case .subscribe(let subscribe) = message else { throw FreshetError(.internal, "another message") }
    var query = Query(from: "t")
    query.select = ["id"]
    query.filter = "a = :x"
    query.parameters = .named(["x": .integer(5)])
    query.orderBy = ["a DESC"]
    var sectionBy = Query.SectionBy("b")
    sectionBy.isDescending = true
    sectionBy.indexTitle = "upper(b)"
    query.sectionBy = sectionBy
    query.limit = 3
    query.key = ["id"]
    guard case .adHoc(let asked) = subscribe.query else { return #expect(Bool(false)) }
    #expect(id == "a" && asked == query && subscribe.minInterval == .milliseconds(100) && subscribe.shape == .objects)
    #expect(subscribe.window == Window(offset: 0, limit: 50))
  }

  @Test func `A subscription without a query means the one that the token says`() throws {
    let (_, message) = try parse("{\"type\":\"subscribe\",\"id\":\"a\"}")
    guard case .subscribe(let subscribe) = message, case .published(let name, _) = subscribe.query else {
      Issue.record("\(message)")
      return
    }
    #expect(name.isEmpty)
  }

  /// A query with an unknown member, and the one that was probably meant.
  @Test(arguments: [
    (#"{"from":"t","orderby":["a"]}"#, "query.orderby is no member of a query: did you mean orderBy?"),
    (
      #"{"from":"t","filter":"a"}"#,
      "query.filter is no member of a query: there are from, select, where, params, groupBy, "
    ),
    (#"{"from":"t","sectonBy":"a"}"#, "query.sectonBy is no member of a query: did you mean sectionBy?"),
    (
      #"{"from":"t","sectionBy":{"by":"a","title":"b"}}"#,
      "query.sectionBy.title is no member of a query: there are by, order,"
    ),
    (#"{"name":"banks","parms":{}}"#, "query.parms is no member of a query: did you mean params?"),
  ])
  func refusesMisspeltMembers(query: String, message: String) {
    do {
      _ = try parse("{\"type\":\"subscribe\",\"id\":\"a\",\"query\":\(query)}")
      Issue.record("accepted")
    } catch {
      #expect(error.error.code == .badQuery && error.error.message.hasPrefix(message), "\(error.error.message)")
    }
  }

  @Test(arguments: [
    "{}", "{\"type\":5,\"id\":\"a\"}", "{\"type\":\"fetch\",\"limit\":1}",
    "{\"type\":\"fetch\",\"id\":\"\",\"limit\":1}",
    "{\"type\":\"fetch\",\"id\":7,\"limit\":1}", "{\"type\":\"fetch\",\"id\":\"a\"}",
    "{\"type\":\"fetch\",\"id\":\"a\",\"limit\":-1}", "{\"type\":\"fetch\",\"id\":\"a\",\"limit\":1.5}",
    "{\"type\":\"fetch\",\"id\":\"a\",\"limit\":1e300}", "{\"type\":\"window\",\"id\":\"a\",\"limit\":\"5\"}",
    "{\"type\":\"subscribe\",\"id\":\"a\",\"query\":[]}",
    "{\"type\":\"subscribe\",\"id\":\"a\",\"query\":{}}",
    "{\"type\":\"subscribe\",\"id\":\"a\",\"query\":{\"from\":5}}",
    "{\"type\":\"subscribe\",\"id\":\"a\",\"query\":{\"from\":\"t\",\"orderBy\":[5]}}",
    "{\"type\":\"subscribe\",\"id\":\"a\",\"query\":{\"from\":\"t\",\"params\":5}}",
    "{\"type\":\"subscribe\",\"id\":\"a\",\"query\":{\"from\":\"t\",\"params\":{\"x\":[1]}}}",
    "{\"type\":\"subscribe\",\"id\":\"a\",\"query\":{\"from\":\"t\"},\"shape\":\"rows\"}",
    "{\"type\":\"transact\",\"id\":\"a\"}", "{\"type\":\"transact\",\"id\":\"a\",\"statements\":[]}",
    "{\"type\":\"transact\",\"id\":\"a\",\"statements\":[{}]}",
    "{\"type\":\"ping\"}", "{\"type\":\"ping\",\"id\":\"\"}",
  ])
  func refusesWithABadMessage(text: String) {
    do {
      _ = try parse(text)
      Issue.record("accepted")
    } catch {
      #expect(error.error.code == .badMessage && !error.isNotAnObject)
    }
  }

  @Test(arguments: ["", "5", "[]", "\"a\"", "{", "null", "{\"type\":\"fetch\"} x"])
  func whatIsNoObjectEndsTheConnection(text: String) {
    do {
      _ = try parse(text)
      Issue.record("accepted")
    } catch {
      #expect(error.isNotAnObject)
    }
  }

  @Test func anUnknownTypeHasItsOwnCode() {
    do {
      _ = try parse("{\"type\":\"dance\",\"id\":\"a\"}")
      Issue.record("accepted")
    } catch {
      #expect(error.error.code == .unknownType && error.id == "a")
    }
  }

  @Test func idsAreOneTo64CharactersButATransactionsIsAnyString() throws {
    _ = try parse("{\"type\":\"resync\",\"id\":\"\(String(repeating: "é", count: 64))\"}")
    #expect(throws: ClientMessageError.self) {
      try parse("{\"type\":\"resync\",\"id\":\"\(String(repeating: "x", count: 65))\"}")
    }
    _ = try parse("{\"type\":\"transact\",\"id\":\"\",\"statements\":[{\"sql\":\"x\"}]}")
  }
}
