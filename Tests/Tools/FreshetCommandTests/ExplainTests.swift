import Foundation
import ServerSupport
import TestSupport
import Testing
import Wire

/// `freshet explain`: the answer of /v1/explain, without a server.
@Suite struct ExplainTests {
  private static let schema = """
    CREATE TABLE bank(id INTEGER PRIMARY KEY, name TEXT, state TEXT);
    CREATE TABLE branch(id INTEGER PRIMARY KEY, bank_id INT, city TEXT);
    """

  @Test func `It says how, why, and what would be better`() throws {
    let folder = try ProgramFolder(Self.schema)
    let query = ["explain", folder.database, "bank", "--where", "state = :s", "--param", "s=GA"]
    let before = try Program.run(query)
    #expect(before.status == 0 && before.output.hasPrefix("incremental: ") && before.output.contains("bank: by key"))
    // The folder's database is in a rollback journal.
    #expect(before.output.contains("compared as a whole") && before.output.contains("PRAGMA journal_mode = WAL"))
    #expect(
      try SQLiteShell(path: folder.database).run("SELECT count(*) FROM sqlite_master") == "2", "nothing is written")
    try SQLiteShell(path: folder.database).run("PRAGMA journal_mode = WAL")
    #expect(try !Program.run(query).output.contains("compared"))
    let join = try Program.run(
      "explain", folder.database, #"{"from": "bank AS b JOIN branch ON branch.bank_id = b.id", "select": ["city"]}"#)
    #expect(join.output.contains("bank as b: by key") && join.output.contains("branch: by join"))
    #expect(join.output.contains("CREATE INDEX branch_bank_id"))
    try SQLiteShell(path: folder.database).run("CREATE INDEX branch_bank_id ON branch(bank_id)")
    let indexed = try Program.run(
      "explain", folder.database, "bank b JOIN branch ON branch.bank_id = b.id", "--select", "city", "--json")
    #expect(try JSONParser.parse(indexed.output.trimmingCharacters(in: .newlines))["advice"] == .array([]))
  }

  @Test(arguments: [
    (["explain", "nosuch"], "no_such_table: "), (["explain", "bank", "--where", "1) OR (1"], "bad_query: where"),
    (["explain", "bank", "--param", "x=1"], "bad_query: "),
  ])
  func `What cannot be asked is said in one sentence`(arguments: [String], message: String) throws {
    let folder = try ProgramFolder(Self.schema)
    let result = try Program.run([arguments[0], folder.database] + arguments.dropFirst())
    #expect(result.status == 1 && result.output.isEmpty && result.errors.contains(message), "\(result)")
  }
}
