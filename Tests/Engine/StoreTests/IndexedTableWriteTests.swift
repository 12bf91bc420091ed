import Foundation
import LiveQuery
import TestSupport
import Testing

@testable import Store

/// Clients write to every kind of table, index and trigger that SQLite's documentation shows. The shell is the oracle:
/// it runs the same statements in a twin of the file, and both files must then hold the same.
@Suite struct IndexedTableWriteTests {
  struct Kind: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let schema: String
    let statements: [String]
    /// Queries whose answers must agree on both files.
    let queries: [String]

    init(_ name: String, _ schema: String, _ statements: [String], _ queries: [String]) {
      (testDescription, self.schema, self.statements, self.queries) = (name, schema, statements, queries)
    }
  }

  private static let notes = "CREATE TABLE note(id INTEGER PRIMARY KEY, title TEXT, body TEXT, deleted INT DEFAULT 0);"
  private static let noteWrites = [
    "INSERT INTO note(id, title, body) VALUES (1, 'Groceries', 'apples and pears'), (2, 'Letter', 'dear apples')",
    "INSERT INTO note(id, title, body) VALUES (3, 'Trip', 'to the lake') RETURNING id, title",
    "UPDATE note SET body = 'pears alone' WHERE id = 1", "DELETE FROM note WHERE id = 2",
    "INSERT INTO note(id, title, body) VALUES (3, 'Trip', 'to the sea') ON CONFLICT(id) DO UPDATE SET body = excluded.body",
    "UPDATE note SET title = upper(title) WHERE id IN (1, 3)",
  ]

  private static func externalContent(_ module: String, _ options: String, _ delete: String, _ insert: String) -> String
  {
    """
    \(notes)
    CREATE VIRTUAL TABLE search USING \(module)(title, body, \(options));
    CREATE TRIGGER note_ai AFTER INSERT ON note BEGIN \(insert) END;
    CREATE TRIGGER note_bd BEFORE DELETE ON note BEGIN \(delete) END;
    CREATE TRIGGER note_bu BEFORE UPDATE ON note BEGIN \(delete) END;
    CREATE TRIGGER note_au AFTER UPDATE ON note BEGIN \(insert) END;
    """
  }

  private static let fts5Delete =
    "INSERT INTO search(search, rowid, title, body) VALUES ('delete', old.id, old.title, old.body);"
  private static let fts5Insert = "INSERT INTO search(rowid, title, body) VALUES (new.id, new.title, new.body);"
  private static let fts4Delete = "DELETE FROM search WHERE docid = old.id;"
  private static let fts4Insert = "INSERT INTO search(docid, title, body) VALUES (new.id, new.title, new.body);"

  private static let fullTextWrites = [
    "INSERT INTO search(rowid, title, body) VALUES (1, 'one', 'apples and pears'), (2, 'two', 'dear apples')",
    "INSERT INTO search(title, body) SELECT 'n' || value, 'word' || value || ' apples' FROM json_each('[5,6,7,8]')",
    "UPDATE search SET body = 'plums alone' WHERE rowid = 1", "DELETE FROM search WHERE rowid = 2",
    "SELECT rowid, snippet(search) FROM search WHERE search MATCH 'apples' ORDER BY rowid",
    "UPDATE search SET title = 'changed' WHERE rowid IN (SELECT rowid FROM search WHERE search MATCH 'word5')",
    "INSERT INTO search(search) VALUES ('optimize')", "INSERT INTO search(search) VALUES ('rebuild')",
    "INSERT INTO search(search) VALUES ('integrity-check')", "INSERT INTO search(search) VALUES ('automerge=2')",
  ]
  private static let fullTextQueries = [
    "SELECT rowid, title, body FROM search ORDER BY rowid",
    "SELECT rowid FROM search WHERE search MATCH 'apples' ORDER BY rowid",
  ]

  static let fullText: [Kind] = [
    Kind(
      "FTS5", "CREATE VIRTUAL TABLE search USING fts5(title, body, prefix='2 3', tokenize='porter unicode61');",
      fullTextWrites.filter { !$0.contains("automerge") }
        .map { $0.replacing("snippet(search)", with: "snippet(search, 1, '[', ']', '…', 4)") } + [
          "INSERT INTO search(search, rank) VALUES ('automerge', 4)",
          "INSERT INTO search(search, rank) VALUES ('merge', 16)",
          "INSERT INTO search(search, rank) VALUES ('rank', 'bm25(10.0, 5.0)')",
          "INSERT INTO search(search, rank) VALUES ('pgsz', 64)",
          "INSERT INTO search(title, body) VALUES ('after', 'apples after')",
        ], fullTextQueries + ["SELECT rowid FROM search WHERE search MATCH 'apples' ORDER BY rank, rowid"]),
    Kind(
      "FTS5 with trigrams", "CREATE VIRTUAL TABLE search USING fts5(title, body, tokenize='trigram', detail=full);",
      Array(fullTextWrites[0...3]), ["SELECT rowid FROM search WHERE search MATCH 'ppl' ORDER BY rowid"]),
    Kind(
      "FTS5 without details or sizes",
      "CREATE VIRTUAL TABLE search USING fts5(title, body, detail=none, columnsize=0);", Array(fullTextWrites[0...3]),
      fullTextQueries),
    Kind(
      "FTS5 without contents", "CREATE VIRTUAL TABLE search USING fts5(title, body, content='');",
      [
        "INSERT INTO search(rowid, title, body) VALUES (1, 'a', 'apples'), (2, 'b', 'pears')",
        "INSERT INTO search(search, rowid, title, body) VALUES ('delete', 1, 'a', 'apples')",
        "INSERT INTO search(search) VALUES ('delete-all')", "INSERT INTO search(rowid, body) VALUES (7, 'apples')",
      ], ["SELECT rowid FROM search WHERE search MATCH 'apples OR pears' ORDER BY rowid"]),
    Kind(
      "FTS5 kept by triggers", externalContent("fts5", "content=note, content_rowid=id", fts5Delete, fts5Insert),
      noteWrites,
      ["SELECT * FROM note ORDER BY id", "SELECT rowid FROM search WHERE search MATCH 'pears OR sea' ORDER BY rowid"]),
    Kind(
      "FTS4", "CREATE VIRTUAL TABLE search USING fts4(title, body, tokenize=porter, prefix=\"2,4\");", fullTextWrites,
      fullTextQueries),
    Kind(
      "FTS4 with languages and unindexed columns",
      "CREATE VIRTUAL TABLE search USING fts4(title, body, notindexed=title, languageid=lid, order=desc);",
      [
        "INSERT INTO search(title, body, lid) VALUES ('a', 'apples', 0), ('b', 'pommes', 1)",
        "UPDATE search SET body = 'poires', lid = 2 WHERE rowid = 2", "DELETE FROM search WHERE rowid = 1",
      ], ["SELECT rowid FROM search WHERE search MATCH 'poires' AND lid = 2"]),
    Kind(
      "FTS4 without contents", "CREATE VIRTUAL TABLE search USING fts4(content='', title, body);",
      ["INSERT INTO search(docid, title, body) VALUES (1, 'a', 'apples'), (2, 'b', 'pears')"],
      ["SELECT docid FROM search WHERE search MATCH 'apples'"]),
    Kind(
      "FTS4 kept by triggers", externalContent("fts4", "content=note", fts4Delete, fts4Insert), noteWrites,
      ["SELECT * FROM note ORDER BY id", "SELECT docid FROM search WHERE search MATCH 'pears OR sea' ORDER BY docid"]),
    Kind("FTS3", "CREATE VIRTUAL TABLE search USING fts3(title, body);", fullTextWrites, fullTextQueries),
    Kind(
      "vocabularies",
      """
      CREATE VIRTUAL TABLE f USING fts5(a); CREATE VIRTUAL TABLE v USING fts5vocab(f, row);
      CREATE VIRTUAL TABLE g USING fts4(a); CREATE VIRTUAL TABLE w USING fts4aux(g); CREATE TABLE words(term, n);
      """,
      [
        "INSERT INTO f(a) VALUES ('red green'), ('green')", "INSERT INTO g(a) VALUES ('red green'), ('green')",
        "INSERT INTO words SELECT term, cnt FROM v", "INSERT INTO words SELECT term, documents FROM w WHERE col = '*'",
      ], ["SELECT * FROM words ORDER BY term, n"]),
  ]

  static let others: [Kind] = [
    Kind(
      "R*Tree", "CREATE VIRTUAL TABLE box USING rtree(id, x0, x1, y0, y1, +name TEXT);",
      [
        "INSERT INTO box VALUES (1, 0, 10, 0, 10, 'a'), (2, 5, 20, 5, 20, 'b')",
        "INSERT INTO box(x0, x1, y0, y1) SELECT value, value + 1, value, value + 1 FROM json_each('[1,2,3,4,5,6,7,8,9]')",
        "UPDATE box SET x1 = 30, name = 'wide' WHERE id = 2", "DELETE FROM box WHERE x0 >= 3 AND x1 <= 6",
        "SELECT id FROM box WHERE x1 >= 9 ORDER BY id",
      ], ["SELECT * FROM box ORDER BY id", "SELECT rtreecheck('box')"]),
    Kind(
      "R*Tree of integers kept by triggers",
      """
      CREATE TABLE place(id INTEGER PRIMARY KEY, x INT, y INT);
      CREATE VIRTUAL TABLE near USING rtree_i32(id, x0, x1, y0, y1);
      CREATE TRIGGER i AFTER INSERT ON place BEGIN INSERT INTO near VALUES (new.id, new.x, new.x, new.y, new.y); END;
      CREATE TRIGGER u AFTER UPDATE ON place BEGIN UPDATE near SET x0 = new.x, x1 = new.x, y0 = new.y, y1 = new.y WHERE id = new.id; END;
      CREATE TRIGGER d AFTER DELETE ON place BEGIN DELETE FROM near WHERE id = old.id; END;
      """,
      [
        "INSERT INTO place(x, y) VALUES (1, 2), (3, 4), (5, 6)", "UPDATE place SET x = x + 10 WHERE y > 2",
        "DELETE FROM place WHERE id = 2", "INSERT OR REPLACE INTO place VALUES (9, 7, 7)",
      ], ["SELECT * FROM place ORDER BY id", "SELECT * FROM near ORDER BY id"]),
    Kind(
      "tables of every declaration",
      """
      CREATE TABLE a(id INTEGER PRIMARY KEY AUTOINCREMENT, n INT CHECK (n > 0), t TEXT COLLATE NOCASE UNIQUE, d DEFAULT (1 + 1));
      CREATE TABLE b(k TEXT, v REAL, PRIMARY KEY (k, v)) WITHOUT ROWID;
      CREATE TABLE c(id INT PRIMARY KEY, t TEXT NOT NULL, x ANY) STRICT;
      CREATE TABLE g(a INT, s INT AS (a * 2) STORED, v INT AS (a + 1));
      CREATE INDEX p ON a(n) WHERE t IS NOT NULL; CREATE INDEX e ON a(lower(t), n DESC);
      CREATE TABLE parent(id INTEGER PRIMARY KEY);
      CREATE TABLE child(id INTEGER PRIMARY KEY, p INT REFERENCES parent(id) ON DELETE CASCADE ON UPDATE CASCADE,
        q INT REFERENCES parent(id) ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED);
      """,
      [
        "INSERT INTO a(n, t) VALUES (1, 'x'), (2, 'Y')", "INSERT OR IGNORE INTO a(n, t) VALUES (3, 'X'), (4, 'z')",
        "REPLACE INTO b VALUES ('k', 1.5), ('k', 2)", "INSERT INTO c VALUES (1, 'one', x'00ff'), (2, 'two', 2.0)",
        "INSERT INTO g(a) VALUES (1), (2)", "UPDATE g SET a = a + 1",
        "INSERT INTO parent VALUES (1), (2), (3)", "INSERT INTO child VALUES (1, 1, 2), (2, 2, 3), (3, 3, 3)",
        "UPDATE parent SET id = 10 WHERE id = 1", "DELETE FROM parent WHERE id = 3",
        "UPDATE a SET d = c.t FROM c WHERE c.id = a.id",
        "WITH big AS (SELECT 9 AS n) INSERT INTO a(n) SELECT n FROM big",
        "DELETE FROM a WHERE id IN (SELECT id FROM a LIMIT 1) RETURNING t",
      ],
      ["SELECT *, s, v FROM g", "PRAGMA foreign_key_check"]
        + ["a", "b", "c", "parent", "child"].map { "SELECT * FROM \($0)" }),
    Kind(
      "triggers of every kind",
      """
      CREATE TABLE t(id INTEGER PRIMARY KEY, a INT, b INT); CREATE TABLE log(n INTEGER PRIMARY KEY, what, x, y);
      CREATE TABLE down(n INTEGER PRIMARY KEY);
      CREATE VIEW w AS SELECT id, a + b AS s FROM t;
      CREATE TRIGGER bi BEFORE INSERT ON t WHEN new.a < 0 BEGIN SELECT RAISE(ABORT, 'negative'); END;
      CREATE TRIGGER ii BEFORE INSERT ON t WHEN new.a = 13 BEGIN SELECT RAISE(IGNORE); END;
      CREATE TRIGGER ai AFTER INSERT ON t BEGIN INSERT INTO log(what, x, y) VALUES ('+', new.id, new.a); END;
      CREATE TRIGGER au AFTER UPDATE OF a ON t WHEN old.a IS NOT new.a BEGIN INSERT INTO log(what, x, y) VALUES ('=', old.a, new.a); END;
      CREATE TRIGGER ad AFTER DELETE ON t BEGIN INSERT INTO log(what, x, y) VALUES ('-', old.id, (SELECT count(*) FROM t)); END;
      CREATE TRIGGER vi INSTEAD OF INSERT ON w BEGIN INSERT INTO t(id, a, b) VALUES (new.id, new.s, 0); END;
      CREATE TRIGGER vu INSTEAD OF UPDATE ON w BEGIN UPDATE t SET a = new.s, b = 0 WHERE id = old.id; END;
      CREATE TRIGGER vd INSTEAD OF DELETE ON w BEGIN DELETE FROM t WHERE id = old.id; END;
      CREATE TRIGGER cascade AFTER INSERT ON down WHEN new.n > 0 BEGIN INSERT INTO log(what, x) VALUES ('d', new.n); END;
      """,
      [
        "INSERT INTO t(a, b) VALUES (1, 2), (13, 0), (3, 4)", "UPDATE t SET a = a + 1", "UPDATE t SET b = 7",
        "INSERT INTO w(id, s) VALUES (50, 5)", "UPDATE w SET s = 6 WHERE id = 50", "DELETE FROM w WHERE id = 1",
        "INSERT INTO t(a) VALUES (-1)", "INSERT INTO down VALUES (3), (0)",
      ], ["SELECT * FROM t ORDER BY id", "SELECT * FROM log ORDER BY n", "SELECT * FROM w ORDER BY id"]),
  ]

  private func write(_ writer: Writer, _ statements: [String]) throws -> [StatementResult] {
    #expect(try writer.begin())
    return try writer.transact(Transaction(statements.map { .init(sql: $0, parameters: .none) }))
  }

  private func shell(_ folder: TemporaryFolder, _ name: String, _ kind: Kind) throws -> SQLiteShell {
    let shell = SQLiteShell(path: folder.path(name + ".sqlite"))
    #expect(try shell.run("PRAGMA journal_mode = WAL; \(kind.schema)") == "wal")
    return shell
  }

  private func compare(_ ours: SQLiteShell, _ twin: SQLiteShell, _ kind: Kind) throws {
    for query in kind.queries + ["PRAGMA integrity_check"] {
      #expect(try ours.run(query) == (try twin.run(query)), "\(query)")
    }
  }

  @Test(arguments: fullText + others)
  func `What clients write is what the shell writes`(kind: Kind) throws {
    let folder = try TemporaryFolder()
    let (ours, twin) = (try shell(folder, "ours", kind), try shell(folder, "twin", kind))
    var good: [String] = []
    for statement in kind.statements {
      let printed = try twin.run("PRAGMA foreign_keys = ON; \(statement)")
      let fails = printed.hasPrefix("Runtime error") || printed.hasPrefix("Parse error") || printed.hasPrefix("Error")
      if !fails { good.append(statement) }
      do {
        _ = try write(Writer(path: ours.path), [statement])
        #expect(!fails, "\(statement): the shell says \(printed)")
      } catch let error as FreshetError { #expect(fails, "\(statement): \(error)") }
    }
    try compare(ours, twin, kind)
    // As above, in one transaction.
    let (oursAtOnce, twinAtOnce) = (try shell(folder, "ours2", kind), try shell(folder, "twin2", kind))
    try twinAtOnce.run("PRAGMA foreign_keys = ON; BEGIN; \(good.joined(separator: ";\n")); COMMIT;")
    _ = try write(Writer(path: oursAtOnce.path), good)
    try compare(oursAtOnce, twinAtOnce, kind)
  }

  @Test(arguments: fullText + others)
  func `Published statements over them are found right before they are run`(kind: Kind) throws {
    let folder = try TemporaryFolder()
    let shell = SQLiteShell(path: folder.path("t.sqlite"))
    try shell.run("PRAGMA journal_mode = WAL; \(kind.schema)")
    let check = try StatementCheck(path: shell.path)
    for statement in kind.statements { #expect(check.problem(statement) == nil, "\(statement)") }
  }

  /// Statements that a virtual table's module may run during a statement, but clients may not.
  @Test(arguments: [
    "PRAGMA data_version", "PRAGMA page_size", "PRAGMA foreign_keys = OFF", "SAVEPOINT s", "CREATE TABLE u(a)",
    "CREATE VIRTUAL TABLE u USING fts5(a)", "DROP TABLE search", "DELETE FROM sqlite_master",
    "INSERT INTO sqlite_master SELECT * FROM sqlite_master", "SELECT * FROM pragma_optimize",
    "SELECT fts3_tokenizer('simple')",
    "SELECT * FROM pragma_wal_checkpoint", "ATTACH ':memory:' AS x", "REINDEX", "ANALYZE",
    "INSERT INTO search SELECT load_extension('x'), 1",
  ])
  func `Clients may do no more than before`(statement: String) throws {
    let folder = try TemporaryFolder()
    let shell = SQLiteShell(path: folder.path("t.sqlite"))
    try shell.run("CREATE VIRTUAL TABLE search USING fts5(title, body);")
    let before = try shell.run(".dump")
    let writer = try Writer(path: shell.path)
    #expect(throws: FreshetError.self) { try write(writer, ["INSERT INTO search(title) VALUES ('a')", statement]) }
    #expect(throws: FreshetError.self) { try write(writer, [statement]) }
    #expect(try shell.run(".dump") == before)
  }
}
