import FreshetResults
import LiveQuery
import Testing
import Wire

@testable import FreshetRemote
@testable import TerminalWatch

/// Which window of a list is requested, and when.
@Suite struct WatchedListTests {
  private func rows(_ offset: Int, limit: Int = 2, of total: Int = 9) throws -> Rows {
    var reader = ServerMessageReader()
    var model = ResultsModel<ResultRow> { $0 }
    let count = max(0, min(limit, total - offset))
    let rows = (0..<count).map { "[\(offset + $0)]" }.joined(separator: ",")
    let message = try #require(
      try reader.read(
        JSONParser.parse(
          """
          {"type":"snapshot","version":"1","commit":4,"columns":["id"],"total":\(total),
           "sections":[{"name":"","indexTitle":"","count":\(total)}],"window":{"offset":\(offset),"limit":\(limit)},
           "offset":\(offset),"rows":[\(rows)],"complete":true}
          """)
      ).flatMap(ListMessage.init))
    let update = try model.apply(message)
    return try #require(update).results
  }

  private func live() throws -> WatchedList {
    var list = WatchedList(window: Window(offset: 0, limit: 2))
    list.connected()
    list.take(try rows(0))
    return list
  }

  @Test func `While a window is on its way only the last wish is kept`() throws {
    var list = try live()
    list.move(to: 3, limit: 2)
    #expect(list.nextWindow() == Window(offset: 3, limit: 2))
    for offset in 4...5 {
      list.move(to: offset, limit: 2)
      #expect(list.nextWindow() == nil)
    }
    #expect(list.wantedWindow == Window(offset: 5, limit: 2))
    list.take(try rows(3))
    #expect(list.nextWindow() == Window(offset: 5, limit: 2))
    list.take(try rows(5))
    list.move(to: 5, limit: 2)
    #expect(list.nextWindow() == nil, "that is where it stands")
    list.move(to: 99, limit: 2)
    #expect(list.nextWindow() == Window(offset: 8, limit: 2))
  }

  @Test func `A window stays at its rows, and keeps its limit where the list is shorter`() throws {
    var list = try live()
    list.take(try rows(4))
    #expect(list.wantedWindow == Window(offset: 4, limit: 2))
    list.take(try rows(8, of: 9))
    #expect(list.wantedWindow == Window(offset: 8, limit: 2))
  }

  @Test func `Nothing is asked for without a connection, and what was not answered is asked for again`() throws {
    var list = try live()
    list.status = .waiting
    list.move(to: 3, limit: 2)
    #expect(list.nextWindow() == nil)
    list.connected()
    #expect(list.nextWindow() == Window(offset: 3, limit: 2))
    list.connected()
    list.move(to: 4, limit: 2)
    #expect(list.nextWindow() == Window(offset: 4, limit: 2))
  }

  @Test func `A list without a window has all rows`() throws {
    var list = WatchedList(window: nil)
    list.connected()
    list.take(try rows(0, limit: 9))
    #expect(list.wantedWindow == nil && list.isComplete)
  }
}
