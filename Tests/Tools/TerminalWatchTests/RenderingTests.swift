import FreshetResults
import Testing
import Wire

@testable import FreshetRemote
@testable import TerminalWatch

/// Lists as lines and as a screen.
@Suite struct RenderingTests {
  /// A list after a snapshot and the patches behind it.
  private struct Listed {
    var rows = Rows()
    var old = Rows()
    var patch: ResultsPatch?
  }

  private func list(_ messages: String...) throws -> Listed {
    var reader = ServerMessageReader()
    var model = ResultsModel<ResultRow> { $0 }
    var listed = Listed()
    for message in messages {
      guard let message = try reader.read(JSONParser.parse(message)).flatMap(ListMessage.init),
        let update = try model.apply(message)
      else {
        continue
      }
      (listed.old, listed.rows) = (listed.rows, update.results)
      if case .patched(let patch) = update.change { listed.patch = patch }
    }
    return listed
  }

  private static let banks = """
    {"type":"snapshot","version":"1","commit":4,"columns":["id","name","depth"],"total":4,
     "sections":[{"name":"FL","indexTitle":"F","count":1},{"name":"GA","indexTitle":"G","count":3}],"offset":0,
     "rows":[[2,"Citizens",1.5],[1,"First Security",null],[10,"漢字 bank",7],[4,"a\\n\\u001b[31mb",{"$int":"9007199254740993"}]],
     "complete":true,"alongside":{"deepest":7}}
    """
  private static let patch = """
    {"type":"patch","from":"1","to":"2","commit":5,"total":4,"deleted":[[1,0]],"sectionsDeleted":[0],
     "sectionsInserted":[[1,{"name":"TX","indexTitle":"T","count":2,"rows":[[2,"Citizens",1.5],[9,"New",2]]}]],
     "updated":[[[1,1],[0,0],{"depth":8}]],"alongside":{"deepest":8}}
    """

  @Test func `Plain lines`() throws {
    #expect(
      try PlainText.lines(list(Self.banks).rows) == [
        "id\tname\tdepth", "# FL (1)", "2\tCitizens\t1.5", "# GA (3)", "1\tFirst Security\tNULL", "10\t漢字 bank\t7",
        "4\ta\\n\u{FFFD}[31mb\t9007199254740993", "= deepest=7",
      ])
    let after = try list(Self.banks, Self.patch)
    #expect(
      try PlainText.lines(#require(after.patch), from: after.old, to: after.rows) == [
        "@ commit 5, 4 rows", "-# [0] FL", "- [1,0] 1\tFirst Security\tNULL", "+# [1] TX (2)",
        "+ [1,0] 2\tCitizens\t1.5", "+ [1,1] 9\tNew\t2", "* [0,0] depth=8", "= deepest=8",
      ])
  }

  @Test func `Totals stand in the titles of sections and behind the rows`() throws {
    let snapshot = """
      {"type":"snapshot","version":"1","commit":4,"columns":["id"],"total":2,
       "sections":[{"name":"A","indexTitle":"A","count":1,"totals":{"n":1,"feet":2.5}},
                   {"name":"B","indexTitle":"B","count":1,"totals":{"n":1,"feet":null}}],
       "offset":0,"rows":[[1],[2]],"complete":true,"totals":{"n":2,"feet":2.5}}
      """
    #expect(
      try PlainText.lines(list(snapshot).rows) == [
        "id", "# A (1) feet=2.5 n=1", "1", "# B (1) feet=NULL n=1", "2", "= feet=2.5", "= n=2",
      ])
    let after = try list(
      snapshot,
      #"{"type":"patch","from":"1","to":"2","commit":5,"total":2,"totals":{"feet":7},"sectionTotals":[[1,{"feet":4.5}]]}"#
    )
    #expect(
      try PlainText.lines(#require(after.patch), from: after.old, to: after.rows) == [
        "@ commit 5, 2 rows", "=# [1] B (1) feet=4.5 n=1", "= feet=7",
      ])
    let screen = ScreenText(width: 30, height: 6, hasColor: false)
    let lines = screen.lines(after.rows, marks: ChangeMarks(), status: { _ in "" }).lines.map(plain)
    #expect(lines[3] == "B (1) feet=4.5 n=1".padded(30))
  }

  /// The line without escape sequences for colors.
  private func plain(_ line: String) -> String { line.replacing(/\u{1B}\[[0-9;]*m/, with: "") }

  @Test func `A screen has aligned columns under their sections`() throws {
    let list = try list(Self.banks).rows
    let screen = ScreenText(width: 40, height: 8, hasColor: true)
    let (lines, rows) = screen.lines(list, marks: ChangeMarks(), status: { _ in "status" })
    #expect(rows == 4 && lines.count == 8)
    #expect(
      lines.map(plain) == [
        "id  name                       depth", "FL (1)".padded(40), " 2  Citizens                     1.5",
        "GA (3)".padded(40), " 1  First Security              NULL", "10  漢字 bank                      7",
        " 4  a\\n\u{FFFD}[31mb       9007199254740993", "status".padded(40),
      ])
  }

  @Test(arguments: [(1, 3), (5, 3), (12, 4), (30, 6), (200, 50)])
  func `No line is wider and no screen higher than the terminal`(width: Int, height: Int) throws {
    let after = try list(Self.banks, Self.patch)
    let marks = try ChangeMarks(#require(after.patch), from: after.old, to: after.rows)
    let lines = ScreenText(width: width, height: height, hasColor: false)
      .lines(after.rows, marks: marks, status: { "\($0) rows in a status that is longer" }).lines
    #expect(lines.count == height)
    for line in lines { #expect(CellText.width(plain(line)) <= width, "\(line)") }
  }

  @Test func `What changed stands out, in colour or in bold`() throws {
    let after = try list(Self.banks, Self.patch)
    let marks = try ChangeMarks(#require(after.patch), from: after.old, to: after.rows)
    let colored = ScreenText(width: 80, height: 9, hasColor: true).lines(after.rows, marks: marks, status: { _ in "" })
      .lines
    #expect(colored.contains { $0.hasPrefix("\u{1B}[1;32m") && $0.contains("New") })
    #expect(colored.contains { $0.hasPrefix("10") && $0.contains("\u{1B}[1;33m") && $0.contains("8") })
    let bold = ScreenText(width: 80, height: 9, hasColor: false).lines(after.rows, marks: marks, status: { _ in "" })
      .lines
    #expect(bold.contains { $0.hasPrefix("\u{1B}[1m") && $0.contains("New") } && !bold.joined().contains("[1;3"))
  }

  @Test func `Rows whose contents are not known leave a mark, an empty list nothing`() throws {
    let empty = try list(
      #"{"type":"snapshot","version":"1","commit":4,"columns":["id"],"total":0,"sections":[{"name":"","indexTitle":"","count":0}],"complete":true}"#
    ).rows
    #expect(PlainText.lines(empty) == ["id"])
    #expect(
      ScreenText(width: 9, height: 4, hasColor: true).lines(empty, marks: ChangeMarks(), status: { _ in "" }).rows == 0)
    let windowed = try list(
      #"{"type":"snapshot","version":"1","commit":4,"columns":["id"],"total":9,"sections":[{"name":"","indexTitle":"","count":9}],"window":{"offset":2,"limit":3},"offset":2,"rows":[[3],[4]],"complete":true}"#
    ).rows
    #expect(PlainText.lines(windowed) == ["id", "3", "4", "…"])
    let unknown = ScreenText(width: 9, height: 4, hasColor: true).lines(
      Rows(), marks: ChangeMarks(), status: { _ in "" })
    #expect(unknown.lines.count == 4)
  }

  @Test(arguments: [
    ("abc", 5, "abc  "), ("abcdef", 4, "abc…"), ("漢字", 4, "漢字"), ("漢字", 3, "漢…"), ("漢字", 2, "… "), ("abc", 0, ""),
    ("e\u{301}x", 2, "e\u{301}x"),
  ])
  func `Cells are cut and filled by width`(text: String, width: Int, expected: String) {
    #expect(CellText.fit(text, width) == expected)
    #expect(CellText.width(CellText.fit(text, width, isRight: true)) == width)
  }

  @Test func `Values`() {
    let values: [SQLValue] = [
      .blob([0, 1, 2]), .real(1e300), .real(1), .integer(-3), .null, .text("\u{202e}evil\u{7}"),
    ]
    #expect(values.map { CellText.text($0) } == ["blob(3)", "1e+300", "1.0", "-3", "NULL", "evil\u{FFFD}"])
    #expect(CellText.text(.text(String(repeating: "x", count: 99)), limit: 3) == "xxx…")
  }

  @Test func `Keys`() {
    var decoder = KeyDecoder()
    #expect(
      decoder.keys(Array("\u{1B}[A\u{1B}OBjk\u{1B}[5~\u{1B}[6~\u{1B}[H\u{1B}[Fq".utf8))
        == [.up, .down, .down, .up, .pageUp, .pageDown, .home, .end, .quit])
    #expect(decoder.keys(Array("\u{1B}".utf8)) == [] && decoder.keys(Array("[".utf8)) == [])
    #expect(decoder.keys(Array("A".utf8)) == [.up])
    #expect(decoder.keys(Array("x\u{1B}[17~\u{1B}[1;5Cé\u{1B}xG".utf8)) == [.end])
  }

  @Test func `Scrolling ends where the last rows and their sections fill the screen`() throws {
    let list = try list(Self.banks).rows
    func offset(_ key: WatchKey, _ from: Int, height: Int) -> Int {
      Scrolling(height: height).offset(after: key, from: from, shown: 2, in: list)
    }
    #expect(offset(.end, 0, height: 10) == 0 && offset(.down, 0, height: 10) == 0)
    #expect(offset(.end, 0, height: 4) == 1, "three rows and the name of their section")
    #expect(offset(.end, 0, height: 5) == 1, "no room for a row of the section before and its name")
    #expect(offset(.end, 0, height: 3) == 2 && offset(.end, 0, height: 1) == 3)
    #expect(offset(.up, 0, height: 3) == 0 && offset(.down, 0, height: 3) == 1 && offset(.home, 2, height: 3) == 0)
    #expect(offset(.pageDown, 0, height: 2) == 1 && offset(.pageUp, 3, height: 2) == 2)
  }
}

extension String {
  fileprivate func padded(_ width: Int) -> String { self + String(repeating: " ", count: width - count) }
}
