import Server
import ServerSupport
import TestSupport
import Testing
import Wire

/// Every part of a query, answered by a running server and followed through commits of another process.
///
/// Each step is a commit and the client's rows after it (see `ClientModel.line`).
@Suite struct QueryTests {
  struct Story: Sendable, CustomTestStringConvertible {
    var name: String
    var schema: String
    var query: String
    var columns: String
    var start: String
    var steps: [(commit: String, line: String)] = []

    var testDescription: String { name }
  }

  private func follow(_ story: Story) throws {
    let live = try LiveServer(story.schema)
    let client = try live.connect()
    try client.subscribe("q", story.query)
    #expect(client.line("q") == story.start)
    #expect(client.models["q"]?.columns.joined(separator: ",") ?? "" == story.columns)
    for (commit, line) in story.steps {
      try live.writer.run(commit)
      try client.catchUp(["q"])
      #expect(client.line("q") == line, "\(commit)")
    }
    live.stop()
  }

  private static let people = """
    CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT, age INT);
    INSERT INTO t VALUES (1, 'Bob', 30), (2, 'ann', 20), (3, 'Cid', NULL);
    """

  // MARK: - Columns, filters, order

  @Test(arguments: [
    Story(
      name: "all columns", schema: people, query: #"{"from":"t"}"#, columns: "id,name,age",
      start: "''/: 1,'Bob',30 2,'ann',20 3,'Cid',null",
      steps: [("DELETE FROM t WHERE id = 2", "''/: 1,'Bob',30 3,'Cid',null"), ("DELETE FROM t", "''/:")]),
    Story(
      name: "a star of an alias", schema: people, query: #"{"from":"t AS p","select":["p.*"],"orderBy":["p.age"]}"#,
      columns: "id,name,age", start: "''/: 3,'Cid',null 2,'ann',20 1,'Bob',30",
      steps: [("UPDATE t SET age = 10 WHERE id = 1", "''/: 3,'Cid',null 1,'Bob',10 2,'ann',20")]),
    Story(
      name: "expressions with and without AS", schema: people,
      query: #"{"from":"t","select":["upper(name) AS loud","age + 1","name n"]}"#, columns: "id,loud,age + 1,n",
      start: "''/: 1,'BOB',31,'Bob' 2,'ANN',21,'ann' 3,'CID',null,'Cid'",
      steps: [("UPDATE t SET age = 1, name = 'x' WHERE id = 3", "''/: 1,'BOB',31,'Bob' 2,'ANN',21,'ann' 3,'X',2,'x'")]),
    Story(
      name: "names of select used elsewhere", schema: people,
      query: """
        {"from":"t","select":["age / 10 AS decade"],"where":"decade IS NOT NULL","sectionBy":"decade > 2",
        "orderBy":["decade DESC"]}
        """,
      columns: "id,decade", start: "0/0: 2,2 | 1/1: 1,3",
      steps: [("UPDATE t SET age = 45 WHERE id = 3", "0/0: 2,2 | 1/1: 3,4 1,3")]),
    Story(
      name: "a name of select that is a column: where means the column, orderBy the name", schema: people,
      query: #"{"from":"t","select":["-age AS age"],"where":"age > 0","orderBy":["age"]}"#, columns: "id,age",
      start: "''/: 1,-30 2,-20", steps: [("UPDATE t SET age = 25 WHERE id = 3", "''/: 1,-30 3,-25 2,-20")]),
    Story(
      name: "collations, directions and nulls", schema: people,
      query: #"{"from":"t","select":["name","age"],"orderBy":["age IS NULL","name COLLATE NOCASE DESC"]}"#,
      columns: "id,name,age", start: "''/: 1,'Bob',30 2,'ann',20 3,'Cid',null",
      steps: [("UPDATE t SET name = 'zoe' WHERE id = 2", "''/: 2,'zoe',20 1,'Bob',30 3,'Cid',null")]),
    Story(
      name: "nulls last", schema: people, query: #"{"from":"t","select":["age"],"orderBy":["age NULLS LAST"]}"#,
      columns: "id,age", start: "''/: 2,20 1,30 3,null",
      steps: [("UPDATE t SET age = NULL WHERE id = 2", "''/: 1,30 2,null 3,null")]),
    Story(
      name: "nulls first, descending", schema: people,
      query: #"{"from":"t","select":["age"],"orderBy":["age DESC NULLS FIRST"]}"#, columns: "id,age",
      start: "''/: 3,null 1,30 2,20", steps: [("INSERT INTO t VALUES (0, '', 25)", "''/: 3,null 1,30 0,25 2,20")]),
    Story(
      name: "named parameters in every part", schema: people,
      query: """
        {"from":"t","select":["age + :n AS a"],"where":"age > @low","sectionBy":"age > $high","orderBy":["a * :n"],
        "params":{"n":1,"low":5,"high":25}}
        """,
      columns: "id,a", start: "0/0: 2,21 | 1/1: 1,31",
      steps: [("UPDATE t SET age = 6 WHERE id = 3", "0/0: 3,7 2,21 | 1/1: 1,31")]),
    Story(
      name: "positional parameters", schema: people,
      query: #"{"from":"t","select":["age + ? AS a"],"where":"age < ?3 AND age > ?2","params":[1,5,25]}"#,
      columns: "id,a", start: "''/: 2,21", steps: [("UPDATE t SET age = 10 WHERE id = 1", "''/: 1,11 2,21")]),
    Story(
      name: "rows enter and leave a filter", schema: people,
      query: #"{"from":"t","select":["name"],"where":"name LIKE 'b%'"}"#, columns: "id,name", start: "''/: 1,'Bob'",
      steps: [
        ("UPDATE t SET name = 'B' || name", "''/: 1,'BBob' 2,'Bann' 3,'BCid'"),
        ("UPDATE t SET name = 'x' WHERE id <> 2", "''/: 2,'Bann'"), ("UPDATE t SET name = ''", "''/:"),
      ]),
  ])
  func followsParts(story: Story) throws { try follow(story) }

  // MARK: - Keys

  @Test(arguments: [
    Story(
      name: "rowid", schema: "CREATE TABLE t(a); INSERT INTO t VALUES ('x'), ('y');", query: #"{"from":"t"}"#,
      columns: "rowid,a", start: "''/: 1,'x' 2,'y'",
      steps: [("UPDATE t SET rowid = 9 WHERE a = 'x'", "''/: 2,'y' 9,'x'")]),
    Story(
      name: "text", schema: "CREATE TABLE t(a, k TEXT PRIMARY KEY); INSERT INTO t VALUES (1, 'b'), (2, 'a');",
      query: #"{"from":"t"}"#, columns: "k,a", start: "''/: 'a',2 'b',1",
      steps: [("UPDATE t SET k = 'c' WHERE a = 2", "''/: 'b',1 'c',2")]),
    Story(
      name: "compound",
      schema: "CREATE TABLE t(a, b, c, PRIMARY KEY (b, a)); INSERT INTO t VALUES (1, 2, 3), (2, 1, 4);",
      query: #"{"from":"t"}"#, columns: "b,a,c", start: "''/: 1,2,4 2,1,3",
      steps: [("UPDATE t SET b = 3 WHERE c = 4", "''/: 2,1,3 3,2,4")]),
    Story(
      name: "without rowid",
      schema:
        "CREATE TABLE t(k TEXT COLLATE NOCASE PRIMARY KEY, a) WITHOUT ROWID; INSERT INTO t VALUES ('b', 1), ('A', 2);",
      query: #"{"from":"t"}"#, columns: "k,a", start: "''/: 'A',2 'b',1",
      steps: [
        ("UPDATE t SET k = 'C' WHERE a = 2", "''/: 'b',1 'C',2"),
        ("UPDATE t SET k = 'B' WHERE a = 1", "''/: 'B',1 'C',2"),
      ]),
    Story(
      name: "a unique column, swapped between two rows",
      schema: "CREATE TABLE t(id INTEGER PRIMARY KEY, u, a); INSERT INTO t VALUES (1, 'x', 10), (2, 'y', 20);",
      query: #"{"from":"t","select":["a"],"key":["u"]}"#, columns: "u,a", start: "''/: 'x',10 'y',20",
      steps: [
        (
          "BEGIN; UPDATE t SET u = 'z' WHERE id = 1; UPDATE t SET u = 'x' WHERE id = 2; UPDATE t SET u = 'y' WHERE id = 1; COMMIT",
          "''/: 'x',20 'y',10"
        ), ("UPDATE t SET a = a + 1", "''/: 'x',21 'y',11"), ("DELETE FROM t WHERE id = 2", "''/: 'y',11"),
        ("INSERT INTO t VALUES (3, 'x', 1)", "''/: 'x',1 'y',11"),
      ]),
    Story(
      name: "an expression",
      schema: "CREATE TABLE t(id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (1, 'x'), (2, 'y');",
      query: #"{"from":"t","select":["a"],"key":["'k' || id"]}"#, columns: "'k' || id,a",
      start: "''/: 'k1','x' 'k2','y'",
      steps: [("UPDATE t SET a = 'z' WHERE id = 1", "''/: 'k1','z' 'k2','y'")]),
    Story(
      name: "a name of select", schema: "CREATE TABLE t(id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (1, 'x');",
      query: #"{"from":"t","select":["a","id * 2 AS twice"],"key":["twice"]}"#, columns: "twice,a", start: "''/: 2,'x'",
      steps: [("INSERT INTO t VALUES (5, 'y'), (3, 'z')", "''/: 2,'x' 6,'z' 10,'y'")]),
    Story(
      name: "two rows come to have NULL in their primary key",
      schema: "CREATE TABLE t(k TEXT PRIMARY KEY, a); INSERT INTO t VALUES (NULL, 1), ('x', 2);",
      query: #"{"from":"t"}"#, columns: "k,a", start: "''/: null,1 'x',2",
      steps: [
        ("INSERT INTO t VALUES (NULL, 3)", "''/: 1,null,1 2,'x',2 3,null,3"),
        ("UPDATE t SET k = 'y' WHERE a = 1", "''/: 1,'y',1 2,'x',2 3,null,3"),
        ("DELETE FROM t WHERE k IS NULL", "''/: 1,'y',1 2,'x',2"),
      ]),
    Story(
      name: "two rows have NULL in their primary key",
      schema: "CREATE TABLE t(k, l, a, PRIMARY KEY (k, l)); INSERT INTO t VALUES ('x', NULL, 1), ('x', NULL, 2);",
      query: #"{"from":"t"}"#, columns: "rowid,k,l,a", start: "''/: 1,'x',null,1 2,'x',null,2",
      steps: [
        (
          "INSERT INTO t VALUES ('x', NULL, 3), (NULL, NULL, 4)",
          "''/: 1,'x',null,1 2,'x',null,2 3,'x',null,3 4,null,null,4"
        ),
        ("DELETE FROM t WHERE a = 1", "''/: 2,'x',null,2 3,'x',null,3 4,null,null,4"),
        ("UPDATE t SET rowid = 9, a = 5 WHERE a = 3", "''/: 2,'x',null,2 4,null,null,4 9,'x',null,5"),
      ]),
    Story(
      name: "two rows have one key",
      schema: "CREATE TABLE t(id INTEGER PRIMARY KEY, u); INSERT INTO t VALUES (1, 7), (2, 7);",
      query: #"{"from":"t","select":["u"],"key":["u"]}"#, columns: "",
      start: "'duplicate_key' 'two rows of the result have the key 7: give a key that tells them apart'"),
    Story(
      name: "a column by another name",
      schema: "CREATE TABLE t(id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (1, 'x'), (2, 'y');",
      query: #"{"from":"t","select":["a AS b","id AS i"],"key":["i"]}"#, columns: "i,b", start: "''/: 1,'x' 2,'y'",
      steps: [("DELETE FROM t WHERE id = 1", "''/: 2,'y'"), ("INSERT INTO t VALUES (1, 'z')", "''/: 1,'z' 2,'y'")]),
    Story(
      name: "groups by names of select",
      schema:
        "CREATE TABLE t(id INTEGER PRIMARY KEY, a, n); INSERT INTO t VALUES (1, 'x', 1), (2, 'xy', 2), (3, 'z', 3);",
      query:
        #"{"from":"t","select":["substr(a, 1, 1) AS first","n > 2 AS large","count(*) AS c"],"groupBy":["first","large"]}"#,
      columns: "first,large,c", start: "''/: 'x',0,2 'z',1,1",
      steps: [("UPDATE t SET n = 9 WHERE id = 1", "''/: 'x',0,1 'x',1,1 'z',1,1"), ("DELETE FROM t", "''/:")]),
    Story(
      name: "groups by a column's other name",
      schema: "CREATE TABLE t(id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (1, 'x'), (2, 'x'), (3, 'z');",
      query: #"{"from":"t","select":["a AS letter","max(id) AS m"],"groupBy":["letter"],"orderBy":["m"]}"#,
      columns: "letter,m", start: "''/: 'x',2 'z',3", steps: [("UPDATE t SET a = 'z' WHERE id = 2", "''/: 'x',1 'z',3")]
    ),
  ])
  func followsKeys(story: Story) throws { try follow(story) }

  // MARK: - Sections

  @Test(arguments: [
    Story(
      name: "titles by default",
      schema: "CREATE TABLE t(id INTEGER PRIMARY KEY, s); INSERT INTO t(s) VALUES ('été'), (7), (NULL), (''), ('b');",
      query: #"{"from":"t","select":["id"],"sectionBy":"s"}"#, columns: "id",
      start: "null/: 3 | 7/7: 2 | ''/: 4 | 'b'/B: 5 | 'été'/É: 1",
      steps: [("UPDATE t SET s = NULL WHERE id = 4", "null/: 3 4 | 7/7: 2 | 'b'/B: 5 | 'été'/É: 1")]),
    Story(
      name: "descending, with titles",
      schema: "CREATE TABLE t(id INTEGER PRIMARY KEY, s); INSERT INTO t(s) VALUES ('a'), ('b');",
      query: #"{"from":"t","select":["s"],"sectionBy":{"by":"s","order":"DESC","indexTitle":"s || '!'"}}"#,
      columns: "id,s", start: "'b'/b!: 2,'b' | 'a'/a!: 1,'a'",
      steps: [
        ("INSERT INTO t(s) VALUES ('c')", "'c'/c!: 3,'c' | 'b'/b!: 2,'b' | 'a'/a!: 1,'a'"),
        ("UPDATE t SET s = 'b' WHERE id <> 2", "'b'/b!: 1,'b' 2,'b' 3,'b'"),
      ]),
    Story(
      name: "called otherwise than sorted",
      schema: "CREATE TABLE t(id INTEGER PRIMARY KEY, s); INSERT INTO t(s) VALUES ('old'), ('new'), ('new');",
      query: #"{"from":"t","select":["id"],"sectionBy":{"by":"CASE s WHEN 'new' THEN 0 ELSE 1 END","name":"s"}}"#,
      columns: "id", start: "'new'/N: 2 3 | 'old'/O: 1",
      steps: [
        ("INSERT INTO t(s) VALUES ('done')", "'new'/N: 2 3 | 'old'/O: 1 4"),
        ("UPDATE t SET s = 'old' WHERE id = 2", "'new'/N: 3 | 'old'/O: 1 2 4"),
        ("DELETE FROM t WHERE s = 'new'", "'old'/O: 1 2 4"),
      ]),
    Story(
      name: "the title follows its row",
      schema: "CREATE TABLE t(id INTEGER PRIMARY KEY, s, i); INSERT INTO t VALUES (1, 'a', 'x'), (2, 'a', 'y');",
      query: #"{"from":"t","select":["id"],"sectionBy":{"by":"s","indexTitle":"i"}}"#, columns: "id",
      start: "'a'/x: 1 2",
      steps: [("UPDATE t SET i = 'z' WHERE id = 1", "'a'/z: 1 2"), ("DELETE FROM t WHERE id = 1", "'a'/y: 2")]),
    Story(
      name: "one section for names that NOCASE takes for one",
      schema:
        "CREATE TABLE t(id INTEGER PRIMARY KEY, s TEXT COLLATE NOCASE); INSERT INTO t(s) VALUES ('ann'), ('ANN'), ('bob');",
      query: #"{"from":"t","select":["s"],"sectionBy":"s"}"#, columns: "id,s",
      start: "'ann'/A: 1,'ann' 2,'ANN' | 'bob'/B: 3,'bob'",
      steps: [
        ("DELETE FROM t WHERE id = 1", "'ANN'/A: 2,'ANN' | 'bob'/B: 3,'bob'"),
        ("INSERT INTO t VALUES (0, 'Ann')", "'Ann'/A: 0,'Ann' 2,'ANN' | 'bob'/B: 3,'bob'"),
        ("UPDATE t SET s = 'aNN' WHERE id = 2", "'Ann'/A: 0,'Ann' 2,'aNN' | 'bob'/B: 3,'bob'"),
        ("UPDATE t SET s = 'aNn' WHERE id = 0", "'aNn'/A: 0,'aNn' 2,'aNN' | 'bob'/B: 3,'bob'"),
      ]),
    Story(
      name: "numbers of two kinds",
      schema: "CREATE TABLE t(id INTEGER PRIMARY KEY, n); INSERT INTO t(n) VALUES (2), (2.0), (10), (1.5), ('2');",
      query: #"{"from":"t","select":["id"],"sectionBy":"n"}"#, columns: "id",
      start: "1.5/1: 4 | 2/2: 1 2 | 10/1: 3 | '2'/2: 5"),
    Story(
      name: "none: one section, also when empty", schema: "CREATE TABLE t(id INTEGER PRIMARY KEY);",
      query: #"{"from":"t"}"#,
      columns: "id", start: "''/:", steps: [("INSERT INTO t VALUES (1)", "''/: 1"), ("DELETE FROM t", "''/:")]),
    Story(
      name: "sections come and go", schema: "CREATE TABLE t(id INTEGER PRIMARY KEY);",
      query: #"{"from":"t","sectionBy":"id % 2"}"#,
      columns: "id", start: "",
      steps: [
        ("INSERT INTO t VALUES (1), (3)", "1/1: 1 3"), ("INSERT INTO t VALUES (2)", "0/0: 2 | 1/1: 1 3"),
        ("DELETE FROM t", ""),
      ]),
  ])
  func followsSections(story: Story) throws { try follow(story) }

  // MARK: - Limits, names

  @Test(arguments: [
    Story(
      name: "limit 0", schema: people, query: #"{"from":"t","limit":0}"#, columns: "id,name,age", start: "''/:",
      steps: [("DELETE FROM t WHERE id = 1", "''/:")]),
    Story(
      name: "limit 0 with sections", schema: people, query: #"{"from":"t","limit":0,"sectionBy":"id"}"#,
      columns: "id,name,age",
      start: "", steps: [("DELETE FROM t WHERE id = 1", "")]),
    Story(
      name: "limit 1", schema: people, query: #"{"from":"t","select":["id"],"orderBy":["age DESC"],"limit":1}"#,
      columns: "id",
      start: "''/: 1",
      steps: [
        ("UPDATE t SET age = 99 WHERE id = 3", "''/: 3"), ("DELETE FROM t WHERE id = 3", "''/: 1"),
        ("DELETE FROM t WHERE id = 1", "''/: 2"), ("DELETE FROM t", "''/:"),
        ("INSERT INTO t VALUES (8, '', 8), (9, '', 9)", "''/: 9"),
      ]),
    Story(
      name: "a limit cuts the last section", schema: people,
      query: #"{"from":"t","select":["id"],"sectionBy":"age IS NULL","limit":2}"#, columns: "id", start: "0/0: 1 2",
      steps: [
        ("DELETE FROM t WHERE id = 1", "0/0: 2 | 1/1: 3"), ("INSERT INTO t VALUES (0, '', NULL)", "0/0: 2 | 1/1: 0"),
        ("INSERT INTO t VALUES (1, '', 1)", "0/0: 1 2"),
      ]),
    Story(
      name: "a limit beyond the end", schema: people, query: #"{"from":"t","select":["id"],"limit":9007199254740991}"#,
      columns: "id", start: "''/: 1 2 3", steps: [("DELETE FROM t WHERE id = 2", "''/: 1 3")]),
    Story(
      name: "columns named as keywords",
      schema:
        #"CREATE TABLE "order"("group" INTEGER PRIMARY KEY, "desc", "select", asc); INSERT INTO "order" VALUES (1, 2, 3, 4), (2, 1, 4, 3);"#,
      query:
        #"{"from":"\"order\"","select":["\"select\"","asc"],"where":"\"group\" > 0","sectionBy":"\"order\".\"desc\" > 9","orderBy":["desc"]}"#,
      columns: "group,select,asc", start: "0/0: 2,4,3 1,3,4",
      steps: [
        (#"UPDATE "order" SET "desc" = 3 WHERE "group" = 2"#, "0/0: 1,3,4 2,4,3"),
        (#"UPDATE "order" SET asc = 0 WHERE "group" = 2"#, "0/0: 1,3,4 2,4,0"),
      ]),
    Story(
      name: "names with quotes, brackets, spaces and other scripts",
      schema:
        #"CREATE TABLE "a ""b"" [c] 日本;--"("x 'y'" INTEGER PRIMARY KEY, "é""", "[z]", ":p", "?1"); INSERT INTO "a ""b"" [c] 日本;--" VALUES (1, 'a', 'b', 'c', 'd');"#,
      query:
        #"{"from":"\"a \"\"b\"\" [c] 日本;--\" AS \"the \"\"alias\"","where":"\"the \"\"alias\".\":p\" = 'c'","orderBy":["\"é\"\"\" DESC"]}"#,
      columns: "x 'y',é\",[z],:p,?1", start: "''/: 1,'a','b','c','d'",
      steps: [
        (#"INSERT INTO "a ""b"" [c] 日本;--" VALUES (2, 'z', 0, 'c', 0)"#, "''/: 2,'z',0,'c',0 1,'a','b','c','d'"),
        (#"UPDATE "a ""b"" [c] 日本;--" SET ":p" = 1 WHERE "x 'y'" = 1"#, "''/: 2,'z',0,'c',0"),
      ]),
    Story(
      name: "a quote with a combining mark behind it",
      schema: "CREATE TABLE t(id INTEGER PRIMARY KEY, \"\u{301}a\"); INSERT INTO t VALUES (1, 2);",
      query:
        "{\"from\":\"t\",\"select\":[\"\\\"\u{301}a\\\" AS x\"],\"orderBy\":[\"\\\"\u{301}a\\\"\"],\"where\":\"'\u{301}' <> ';'\"}",
      columns: "id,x", start: "''/: 1,2"),
  ])
  func followsLimitsAndNames(story: Story) throws { try follow(story) }

  // MARK: - What is refused

  @Test(arguments: [
    (#"{"from":"nosuch"}"#, "no_such_table", "from: no such table: nosuch"),
    (#"{"from":"t","where":"nosuch = 1"}"#, "no_such_column", "where: no such column: nosuch"),
    (#"{"from":"t","orderBy":["age","age +"]}"#, "bad_query", "orderBy[1]: near \")\": syntax error"),
    (
      #"{"from":"t","where":"1) OR (1"}"#, "bad_query",
      "where is not a complete expression: it closes what it did not open"
    ),
    (
      #"{"from":"t","where":"load_extension('x') IS NULL"}"#, "not_allowed",
      "where: the function load_extension is not allowed"
    ),
    (#"{"from":"sqlite_master"}"#, "not_allowed", "from: the table sqlite_master is not served"),
    (#"{"from":"t","where":"age = :x"}"#, "bad_query", "the parameter :x has no value in params"),
    (#"{"from":"t","params":{"x":1}}"#, "bad_query", "params.x is used nowhere in the query"),
    (#"{"from":"t","where":"abs(id - 9223372036854775807 - 2) > 0"}"#, "bad_query", "integer overflow"),
    (#"{"from":"t","where":"json_extract(name, '$') = 1"}"#, "bad_query", "malformed JSON"),
    (
      #"{"from":"t","where":"length(replace(replace(replace(:x, 'x', :x), 'x', :x), 'x', :x)) > 0","params":{"x":"\#(String(repeating: "x", count: 1_000))"}}"#,
      "too_large", "string or blob too big"
    ),
  ])
  func refuses(query: String, code: String, message: String) throws {
    let live = try LiveServer(Self.people)
    let client = try live.connect()
    try client.subscribe("q", query)
    #expect(client.line("q") == "'\(code)' '\(message)'")
    #expect(client.errors["q"]?["fatal"] == .bool(true))
    // The connection stays open, and the id can be used again.
    try client.subscribe("q", #"{"from":"t","select":["id"]}"#)
    #expect(client.line("q") == "''/: 1 2 3")
    live.stop()
  }

  @Test func `A value that cannot be computed ends the subscription when it appears`() throws {
    let live = try LiveServer("CREATE TABLE t(id INTEGER PRIMARY KEY, j); INSERT INTO t VALUES (1, '[1]');")
    let client = try live.connect()
    try client.subscribe("q", #"{"from":"t","select":["json_extract(j, '$[0]') AS x"]}"#)
    #expect(client.line("q") == "''/: 1,1")
    try live.writer.run("INSERT INTO t VALUES (2, 'no JSON')")
    try client.catchUp(["q"])
    #expect(client.line("q") == "'bad_query' 'malformed JSON'")
    live.stop()
  }

  @Test(arguments: [
    "length(printf('%.*c', 900000000 + id, 'x')) > 0", "length(`printf`('%.*c', 900000000 + id, 'x')) > 0",
    "name || FORMAT('%900000000d', id) IS NULL", "printf('%' || '.*c', 900000000 + id, 'x') IS NULL",
    "printf(name) IS NULL", "length(hex(zeroblob(30000000 + id))) > 0",
  ])
  func `A value made large out of nothing is refused`(filter: String) throws {
    let live = try LiveServer(Self.people)
    let client = try live.connect()
    try client.subscribe("q", "{\"from\":\"t\",\"where\":\"\(filter)\"}")
    #expect(["not_allowed", "bad_query"].contains(client.ended["q"]))
    live.stop()
  }

  @Test func `A query that runs longer than it may is given up`() throws {
    let rows =
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000) INSERT INTO t SELECT i, i FROM n;"
    let live = try LiveServer("CREATE TABLE t(id INTEGER PRIMARY KEY, a); \(rows)") {
      $0.limits.queryTimeout = .milliseconds(50)
    }
    let client = try live.connect()
    let filter = "length(replace(:x, 'x', id)) < 0"
    let start = ContinuousClock.now
    let text = String(repeating: "x", count: 4_000)
    try client.subscribe("q", "{\"from\":\"t\",\"where\":\"\(filter)\",\"params\":{\"x\":\"\(text)\"}}")
    #expect(client.line("q") == "'timeout' 'the query took longer than it may'")
    #expect(client.errors["q"]?["retryable"] == .bool(true))
    #expect(ContinuousClock.now - start < .seconds(3))
    try client.subscribe("q", #"{"from":"t","where":"id = 7"}"#)
    #expect(client.line("q") == "''/: 7,7")
    live.stop()
  }

  @Test(arguments: [
    ("order", "from: no such table: order: did you mean orders?"),
    ("ordres", "from: no such table: ordres: did you mean orders?"),
    ("group", "from: group is a word of SQL: write \\\"group\\\""), ("nothing", "from: no such table: nothing\""),
    ("_freshet_lag", "from: no such table: _freshet_lag\""),
  ]) func `A table that is not there is answered with the one that was meant`(from: String, answer: String) throws {
    let live = try LiveServer(
      """
      CREATE TABLE orders(id INTEGER PRIMARY KEY); CREATE TABLE "group"(id INTEGER PRIMARY KEY);
      CREATE TABLE _freshet_log(id INTEGER PRIMARY KEY)
      """)
    let text = try live.http("GET", "/v1/snapshot?from=\(from)").text
    #expect(text.contains(answer), "\(text)")
    live.stop()
  }
}
