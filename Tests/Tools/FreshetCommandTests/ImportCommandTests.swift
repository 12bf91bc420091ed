import Foundation
import GRDB
import ServerSupport
import TestSupport
import Testing
import Wire

/// `freshet import` as people run it, also into a file that is served.
@Suite struct ImportCommandTests {
  private let folder: ProgramFolder
  private let csv: String

  init() throws {
    folder = try ProgramFolder("")
    csv = folder.path + "/list.csv"
  }

  private func write(_ text: String) throws { try Data(text.utf8).write(to: URL(fileURLWithPath: csv)) }

  private func run(_ more: String...) throws -> (status: Int32, output: String, errors: String) {
    try Program.run(["import", folder.database, "bank", csv] + more)
  }

  private var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() }
  }

  @Test func `A file becomes a table`() throws {
    try write("Bank Name,cert\n\"Security Bank, N.A.\",7\n")
    let result = try run("--key", "cert")
    #expect(result.status == 0 && result.errors == "")
    #expect(result.output == "1 row into bank (\"Bank Name\" TEXT, cert INTEGER)\n")
    let again = try run()
    #expect(again.status == 1 && again.output == "" && again.errors.contains("has a table bank already; --replace"))
    #expect(
      try run("--replace").output.hasPrefix("1 row into bank: 0 inserted, 0 updated, 0 deleted, 1 as they were ("))
  }

  @Test(arguments: [
    (["--delimiter", ";;"], ";; is not one ASCII character"), (["--encoding", "ebcdic"], "'--encoding"),
    (["--key", "x"], "list.csv has no column x; it has a, b"), ([], "list.csv:3: expected 2 fields, found 3"),
    (["--text", "c"], "list.csv has no column c; it has a, b"),
  ])
  func `A mistake is one sentence, and leaves nothing`(arguments: [String], message: String) throws {
    try write("a,b\n1,2\n1,2,3\n")
    let result = try Program.run(["import", folder.database, "t", csv] + arguments)
    #expect(result.status != 0 && result.output == "" && result.errors.contains(message), "\(result)")
    #expect(arguments.isEmpty == false || result.status == 1)
    #expect(try names == ["list.csv"])
    #expect(try Program.run("import", folder.path + "/no/x.sqlite", "t", csv).errors.contains("there is no directory"))
    #expect(try Program.run("import", csv, "t", csv).errors.contains("is not an SQLite database"))
  }

  @Test func `Options say how the file is written`() throws {
    try Data([0x5A, 0xFC, 0x7C, 0x31, 0x0A]).write(to: URL(fileURLWithPath: csv))
    #expect(try run("--no-header", "--delimiter", "|").errors.contains("list.csv:1: not UTF-8; if it is Windows-1252"))
    let result = try run("--no-header", "--delimiter", "|", "--encoding", "windows-1252", "--text", "column2")
    #expect(result.status == 0, "\(result)")
    let rows = try SQLiteShell(path: folder.database).run("SELECT quote(column1), quote(column2) FROM bank;")
    #expect(rows == "'Zü'|'1'")
  }

  @Test func `Standard input is a file too, and so is a pipe`() throws {
    try write("a;b\n1;2\n3;4\n")
    let command = """
      set -eu; cat "$2" | "$0" import "$1" fed -; "$0" import "$1" redirected - < "$2"; "$0" import "$1" piped <(cat "$2")
      """
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/bash")
    process.arguments = ["-c", command, Program.path, folder.database, csv]
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    for table in ["fed", "redirected", "piped"] {
      #expect(try SQLiteShell(path: folder.database).run("SELECT a, b FROM \(table);") == "1|2\n3|4")
    }
    #expect(try Program.run("import", folder.database, "x", "-").errors.contains("standard input is empty"))
  }

  @Test(arguments: [SIGINT, SIGTERM])
  func `A signal ends it, and nothing is left`(signal: Int32) throws {
    try write("a,b\n" + (0..<600_000).map { "\($0),some text in the row \($0 % 7)\n" }.joined())
    // It has begun when its own file is there, and is far from its end.
    let program = try Program(["import", folder.database, "bank", csv])
    while try names == ["list.csv"], program.status(within: 0) == nil { usleep(1_000) }
    program.signal(signal)
    #expect(program.status(within: 10) == 1)
    #expect(try program.errorOutput().contains("interrupted; nothing was imported"))
    #expect(try names == ["list.csv"])
  }

  // MARK: - Live

  @Test func `The next edition of a file is one patch of what differs`() throws {
    try write("cert,name,state\n1,Aspen,GA\n2,Birch,GA\n3,Cedar,FL\n4,Dogwood,TX\n")
    #expect(try run("--key", "cert").status == 0)
    let program = try Program(["serve", folder.database, "--port", "0"])
    let client = try LiveClient(port: try program.port())
    try client.subscribe("q", #"{"from":"bank","select":["name"],"sectionBy":"state","orderBy":["name"]}"#)
    #expect(client.line("q") == "'FL'/F: 3,'Cedar' | 'GA'/G: 1,'Aspen' 2,'Birch' | 'TX'/T: 4,'Dogwood'")
    let before = client.changes["q"]

    try write("cert,name,state\n5,Elm,GA\n4,Dogwood,TX\n1,Aspen,GA\n3,Cedarwood,FL\n")
    #expect(try run("--replace").output.hasPrefix("4 rows into bank: 1 inserted, 1 updated, 1 deleted, 2 as they were"))
    try client.catchUp(["q"])
    #expect(client.line("q") == "'FL'/F: 3,'Cedarwood' | 'GA'/G: 1,'Aspen' 5,'Elm' | 'TX'/T: 4,'Dogwood'")
    #expect(client.changes["q"] == before! + 1)
    let patch = try #require(client.last["q"])
    #expect(patch["type"] == .string("patch"))
    #expect(patch["deleted"]?.short == "[[1 1]]" && patch["inserted"]?.short == "[[1 1 [5 'Elm']]]")
    // A checkpoint may come before the follower, which then does not know which columns are as they were.
    let updated = patch["updated"]?.short ?? ""
    #expect(updated.hasPrefix("[[[0 0] [0 0] {") && updated.hasSuffix("name:'Cedarwood'}]]") && patch["moved"] == nil)

    #expect(try run("--replace").status == 0)
    try client.catchUp(["q"])
    #expect(client.changes["q"] == before! + 1, "the same edition changes nothing")
    program.stop()
  }

  // MARK: - A real list

  /// The FDIC's list: every cell as the `sqlite3` shell imports it, but for dates, which sort here.
  @Test(.enabled(if: BankList.isThere, "../shared/data/banklist.csv is not there"))
  func `The list of failed banks has the shell's cells`() throws {
    let result = try Program.run("import", folder.database, "bank", BankList.file)
    #expect(
      result.output == """
        465 rows into bank (id INTEGER, "Bank Name" TEXT, City TEXT, State TEXT, "CERT #" INTEGER, \
        "Acquiring Institution" TEXT, "Closing Date" TEXT, "Updated Date" TEXT)\n
        """)
    _ = try SQLiteShell(path: folder.database).run(".mode csv\n.import \(BankList.file) shell\n")
    let queue = try DatabaseQueue(path: folder.database)
    try queue.read { db in
      let mine = try Row.fetchAll(db, sql: "SELECT * FROM bank ORDER BY id")
      let theirs = try Row.fetchAll(db, sql: "SELECT * FROM shell ORDER BY rowid")
      #expect(mine.count == 465 && theirs.count == 465)
      for (mine, theirs) in zip(mine, theirs) {
        for name in theirs.columnNames {
          let text: String = theirs[name]
          let cell = (mine[name] as DatabaseValue).storage.value.map { "\($0)" }
          #expect(cell == (name.hasSuffix("Date") ? try day(text) : text), "\(name): \(text)")
        }
      }
      let types =
        "SELECT count(*) FROM bank WHERE typeof(\"CERT #\") <> 'integer' OR date(\"Closing Date\") <> \"Closing Date\""
      #expect(try Int.fetchOne(db, sql: types) == 0)
    }
  }

  /// `18-May-12` as `2012-05-18`, by Foundation.
  private func day(_ text: String) throws -> String {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = TimeZone(identifier: "UTC")
    formatter.dateFormat = "d-MMM-yy"
    let date = try #require(formatter.date(from: text))
    formatter.dateFormat = "yyyy-MM-dd"
    return formatter.string(from: date)
  }
}
