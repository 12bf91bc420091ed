import Foundation
import GRDB
import ServerSupport
import TestSupport
import Testing
import Wire

/// A database that Freshet did not make: the FDIC's list of failed banks, imported with the `sqlite3` shell's
/// `.import`.
///
/// The list is not part of the project; without it in `../shared/data`, this is skipped.
@Suite struct BankListTests {
  private let query = OracleQuery(
    table: "bank", keys: ["rowid"], select: ["\\\"Bank Name\\\"", "City"], filter: nil, section: ("State", false),
    orderBy: ["\\\"Bank Name\\\""], limit: nil, window: nil)

  @Test(.enabled(if: BankList.isThere, "../shared/data/banklist.csv is not there"))
  func theImportedListIsFollowedLive() throws {
    let live = try LiveServer(".mode csv\n.import \(BankList.file) bank\n")
    #expect(try live.count("bank") == 465)
    let client = try live.connect()
    try client.subscribe("all", query.json)
    try client.subscribe("page", query.json, window: (100, 50))
    for edit in [
      "UPDATE bank SET City = 'Springfield' WHERE State = 'GA';",
      "UPDATE bank SET \"Bank Name\" = 'Zion ' || \"Bank Name\" WHERE rowid % 7 = 0;",
      "UPDATE bank SET State = 'CA' WHERE State = 'AL';",
      "INSERT INTO bank(\"Bank Name\", City, State) VALUES ('Aspen \"Best\" Bank', 'Zürich', 'ZZ');",
      "DELETE FROM bank WHERE State IN ('FL', 'ZZ');",
      "DELETE FROM bank;",
    ] {
      try live.writer.run(edit)
      try client.catchUp(["all", "page"])
      let answer = try live.queue.read { try plain.answer($0) }
      #expect(client.models["all"]?.difference(from: answer) == nil, "after \(edit)")
      #expect(client.models["page"]?.difference(from: answer) == nil, "after \(edit)")
    }
    live.stop()
  }

  /// As above for SQLite, without escapes of JSON.
  private var plain: OracleQuery {
    var plain = query
    plain.select = plain.select.map { $0.replacing("\\", with: "") }
    plain.orderBy = plain.orderBy.map { $0.replacing("\\", with: "") }
    return plain
  }
}

extension LiveServer {
  fileprivate func count(_ table: String) throws -> Int {
    try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM \(table)") ?? -1 }
  }
}
