import Foundation
import GRDB
import Server
import ServerSupport
import TestSupport
import Testing
import Wire

/// Files whose application has collations and functions of its own, which this SQLite lacks: unreadable parts are left
/// out and named, and the rest is followed. With a stand-in, the collation's columns are read as well.
@Suite struct ForeignPartsTests {
  /// A writer with the application's collation and functions.
  private static func application(_ path: String) throws -> DatabaseQueue {
    var configuration = Configuration()
    configuration.busyMode = .timeout(10)
    configuration.prepareDatabase { db in
      db.add(collation: DatabaseCollation("unicase") { $0.lowercased().compare($1.lowercased()) })
      db.add(function: DatabaseFunction("shout", argumentCount: 1, pure: true) { "\($0[0].storage.value ?? "")!" })
    }
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    try queue.write { db in
      try db.execute(
        sql: """
          CREATE TABLE decks(id INTEGER PRIMARY KEY, name TEXT NOT NULL COLLATE unicase, n INT);
          CREATE UNIQUE INDEX decks_name ON decks(name);
          CREATE TABLE tags(tag TEXT NOT NULL PRIMARY KEY COLLATE unicase, usn INT) WITHOUT ROWID;
          CREATE TABLE loud(id INTEGER PRIMARY KEY, a TEXT, b AS (shout(a)));
          CREATE TABLE plain(id INTEGER PRIMARY KEY, x);
          INSERT INTO decks VALUES (1, 'Default', 1), (2, 'alpha', 2), (3, 'Beta', 3);
          INSERT INTO tags VALUES ('x', 1); INSERT INTO loud(id, a) VALUES (1, 'y'); INSERT INTO plain VALUES (1, 1);
          """)
    }
    return queue
  }

  @Test func `Lists read all that SQLite can read`() throws {
    let live = try LiveServer("")
    defer { live.stop() }
    let application = try Self.application(live.path)
    let client = try live.connect()
    try client.subscribe("d", #"{"from":"decks","select":["name","n"]}"#)
    try client.subscribe("l", #"{"from":"loud"}"#)
    try client.subscribe("j", #"{"from":"loud JOIN decks USING (id)","select":["a","decks.n"]}"#)
    #expect(client.line("d") == "''/: 1,'Default',1 2,'alpha',2 3,'Beta',3")
    #expect(client.line("l") == "''/: 1,'y'" && client.line("j") == "''/: 1,'y',1")
    try application.write { db in
      try db.execute(
        sql: """
          UPDATE decks SET n = 9 WHERE name = 'ALPHA'; DELETE FROM decks WHERE id = 3; UPDATE loud SET a = 'z';
          INSERT INTO loud(id, a) VALUES (2, 'w')
          """)
    }
    try client.catchUp(["d", "l", "j"])
    #expect(client.line("d") == "''/: 1,'Default',1 2,'alpha',9" && client.line("l") == "''/: 1,'z' 2,'w'")
    #expect(client.line("j") == "''/: 1,'z',1 2,'w',9")
    // Queries that need the collation, or the function, are refused by name.
    for (query, name) in [
      (#"{"from":"decks","orderBy":["name"]}"#, "unicase"), (#"{"from":"decks","where":"name = 'x'"}"#, "unicase"),
      (#"{"from":"loud","select":["b"]}"#, "shout"),
    ] {
      try client.subscribe("r", query)
      #expect(client.line("r").contains(name) && client.ended["r"] != nil, "\(client.line("r"))")
    }
    let schema = try live.http("GET", "/v1/schema").text
    #expect(schema.contains(#""unreadable":[{"column":"b","reason":"unknown function: shout()"}]"#), "\(schema)")
  }

  @Test func `The feed of the whole file leaves out what cannot be told`() throws {
    let live = try LiveServer("")
    defer { live.stop() }
    let application = try Self.application(live.path)
    let client = try live.connect()
    try client.send(#"{"type":"changes","id":"c"}"#)
    #expect(try client.receive("changes")["position"] != nil)
    try application.write { db in
      try db.execute(
        sql: """
          UPDATE decks SET name = 'gamma' WHERE id = 2; UPDATE plain SET x = 2; UPDATE loud SET a = 'q'; INSERT INTO tags VALUES ('y', 2)
          """)
    }
    let changes = try client.receive("changes")["changes"]?.short ?? ""
    for part in ["table:'decks'", "name:'gamma'", "table:'plain'", "table:'loud'", "a:'q'"] {
      #expect(changes.contains(part), "\(part): \(changes)")
    }
  }

  @Test func `A stand-in compares in the place of the application's collation, and writes nothing`() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("t.sqlite")
    try SQLiteShell(path: path).run("PRAGMA journal_mode = WAL;")
    _ = try Self.application(path)
    let query = #"{"from":"decks","select":["name"],"orderBy":["name"],"where":"name > 'AA'"}"#
    let refused = try Program.run(["explain", path, query])
    #expect(refused.status != 0 && refused.errors.contains("unicase"), "\(refused)")
    let accepted = try Program.run(["explain", path, query, "--collation", "unicase=nocase"])
    #expect(accepted.status == 0 && accepted.output.contains("incremental"), "\(accepted)")
    let wrong = try Program.run(["explain", path, query, "--collation", "unicase=other"])
    #expect(wrong.status != 0 && wrong.errors.contains("binary, nocase or rtrim"), "\(wrong)")
    let missing = try Program.run(["explain", path, query, "--extension", folder.path("nothing.so")])
    #expect(missing.status != 0 && missing.errors.contains("nothing.so"), "\(missing)")
  }
}
