import LiveQuery
import Testing

@testable import QueryCompiler

/// Forbidden SQL of clients: every fragment must be one SQLite expression that reads only served tables.
@Suite struct QuerySafetyTests {
  private func answer(_ place: String, _ text: String) throws -> String {
    try CompilerFixture.refusal(CompilerFixture.query(place, text))
  }

  /// Attempts in place of an expression, by the code of their error.
  static let attempts: [(code: String, texts: [String])] = [
    // More than one expression, and less than one.
    (
      "bad_query",
      [
        "1; DELETE FROM t", "1 -- ", "1 /* */", "1) UNION SELECT (1", "a) FROM sqlite_master; --", "1 UNION SELECT 2",
        "a FROM sqlite_master WHERE (1)", "a ORDER BY 1", "a LIMIT 1", "a GROUP BY 1", "1 AS x, 2", "* FROM t", "CASE",
        "a BETWEEN 1", "a AND", "NOT", "a\0b", "a #", "$", "$a(", "$a(b)", ":a::b", "@", "?0", "VALUES (1)",
      ]
    ),
    // Other statements.
    (
      "bad_query",
      [
        "ATTACH 'x' AS y", "PRAGMA user_version", "(PRAGMA user_version)", "DELETE FROM t",
        "(DELETE FROM t RETURNING id)",
        "(INSERT INTO t VALUES (1))", "(UPDATE t SET a = 1 RETURNING a)", "EXPLAIN SELECT 1", "(EXPLAIN SELECT 1)",
        "(WITH d AS (DELETE FROM t RETURNING id) SELECT id FROM d)", "RAISE(IGNORE)",
      ]
    ),
    // Tables that are not served, by every way to a table.
    (
      "not_allowed",
      [
        "(SELECT sql FROM sqlite_master)", "(SELECT count(*) FROM sqlite_master)",
        "EXISTS (SELECT 1 FROM sqlite_master)",
        "a IN sqlite_master", "a IN _freshet_log", "a IN main.sqlite_master", "a IN (SELECT name FROM sqlite_schema)",
        "(SELECT count(*) FROM \"sqlite_master\")", "(SELECT count(*) FROM [SQLITE_MASTER])",
        "(SELECT count(*) FROM 'sqlite_master')", "(SELECT count(*) FROM _freshet_meta)",
        "(SELECT count(*) FROM '_FRESHET_log')", "(SELECT rowid FROM _freshet_log)",
        "(WITH t AS (SELECT name FROM sqlite_master) SELECT name FROM t)",
        "(WITH x AS (SELECT 1) SELECT count(*) FROM sqlite_master)",
        "(WITH sqlite_master AS (SELECT 1 AS x) SELECT count(*) FROM main.sqlite_master)",
        "(WITH _freshet_log AS (SELECT 1 AS x) SELECT count(*) FROM _freshet_log)",
        "(SELECT 1 FROM t, (SELECT count(*) FROM (SELECT 1 FROM sqlite_master)))",
        "(SELECT a FROM t UNION SELECT name FROM sqlite_master)", "(SELECT a FROM t WHERE a IN sqlite_master)",
        "(SELECT name FROM pragma_table_list)", "(SELECT count(*) FROM pragma_database_list)",
        "(SELECT count(*) FROM pragma_function_list())", "(SELECT name FROM dbstat)", "(SELECT count(*) FROM dbstat)",
        "(SELECT count(*) FROM dbstat('main'))", "(SELECT sql FROM sqlite_stmt)", "(SELECT count(*) FROM sqlite_stmt)",
        "(SELECT count(*) FROM fts3tokenize)",
      ]
    ),
    (
      "no_such_table",
      [
        "(SELECT a FROM aux.t)", "(SELECT a FROM temp.t)", "(SELECT data FROM sqlite_dbpage)",
        "(SELECT addr FROM bytecode('SELECT 1'))", "(SELECT 1 FROM tables_used('SELECT 1'))",
        "(SELECT * FROM fts5vocab('f', 'row'))",
      ]
    ),
    // Functions that have effects, reveal the connection, or make large values from small ones.
    (
      "not_allowed",
      [
        "load_extension('x')", "(SELECT load_extension('x'))", "\"load_extension\"('x')", "[LOAD_extension]('x')",
        "zeroblob(9)", "length(zeroblob(900000000))", "randomblob(9)", "fts3_tokenizer('simple')", "fts5(1)",
        "sqlite_source_id()", "sqlite_compileoption_get(1)", "total_changes()", "changes()", "sqlite_log(1, 'x')",
        "rtreecheck('t')", "rtreenode(1, 2)", "optimize(a)", "subtype(a)", "(SELECT max(randomblob(9)) FROM t)",
        "json_array(zeroblob(9))", "sum(zeroblob(9))",
      ]
    ),
    // Formats that cannot be parsed, or make too much text.
    (
      "bad_query",
      [
        "printf('%.*c', 900000000, 'x')", "printf('%*d', 900000000, 1)", "printf('%900000000d', 1)",
        "printf('%.900000000c', 'x')", "printf('%0009999c', 'x')", "printf(a, 1)",
        "printf('%' || '.*c', 900000000, 'x')",
        "printf(\"%.*c\", 900000000, 'x')", "(SELECT printf('%.*c', 900000000, 'x'))", "format('%.*c', 900000000, 'x')",
        "\"printf\"('%.*c', 900000000, 'x')", "[format](('%.*c'), 900000000, 'x')", "`printf`('%.*c', 900000000, 'x')",
        "PRINTF ('%.*c', 900000000, 'x')", "printf(+'%.*c', 900000000, 'x')", "printf(CAST('%d' AS TEXT), 1)",
        "(WITH c(f) AS (SELECT '%.*c') SELECT printf(f, 900000000, 'x') FROM c)", "printf()", "printf('%' 'd', 1)",
        "(SELECT 1 FROM t WHERE printf((SELECT '%.*c'), 900000000, 'x'))", "printf('%9 9999c', 'x')",
      ]
    ),
    // Aggregates, which SQLite refuses in a row's expression before it reports their contents.
    (
      "bad_query",
      [
        "count(*) FILTER (WHERE zeroblob(9))",
        "row_number() OVER (ORDER BY zeroblob(9))",
      ]
    ),
    // The time, without `refreshEvery`.
    (
      "bad_query",
      [
        "julianday()", "datetime('NOW')", "strftime('%s', 'now', 'utc')", "unixepoch()", "\"datetime\"()", "[date]()",
        "(SELECT time('now'))", "strftime('%s')",
      ]
    ),
    ("not_allowed", ["random() > 0", "current_time", "(SELECT current_timestamp)", "abs(\"random\"())"]),
    // A name in double quotes is not a text.
    ("no_such_column", ["date(\"now\")", "a = \"no such\"", "(SELECT count(*) FROM t WHERE a = \"y\")"]),
  ]

  @Test(arguments: CompilerFixture.expressionPlaces, attempts)
  func refusesExpression(place: String, attempt: (code: String, texts: [String])) throws {
    for text in attempt.texts {
      let answer = try answer(place, text)
      #expect(answer.hasPrefix("\(attempt.code): "), "\(place) \(text): \(answer)")
    }
  }

  /// The attempts that are a single expression.
  private static let expressions = attempts.filter { attempt in
    attempt.code.hasPrefix("no") || attempt.texts.contains { $0.contains("printf(") || $0.contains("julianday") }
  }

  @Test(arguments: expressions) func refusesAlongside(attempt: (code: String, texts: [String])) throws {
    for text in attempt.texts {
      let answer = try answer("alongside.x", "SELECT \(text) FROM t")
      #expect(!answer.hasPrefix("accepted"), "\(text)")
    }
  }

  @Test(arguments: expressions) func refusesSubqueryAndCondition(attempt: (code: String, texts: [String])) throws {
    for text in attempt.texts {
      for from in ["(SELECT \(text) AS x FROM t) AS s", "t JOIN v ON (\(text))", "t, json_each(\(text))"] {
        var query = Query(from: from)
        query.key = ["1"]
        let answer = try CompilerFixture.refusal(query)
        #expect(!answer.hasPrefix("accepted"), "\(from)")
      }
    }
  }

  static let statements: [(text: String, code: String)] = [
    ("SELECT 1; SELECT 2", "bad_query"), ("SELECT 1, 2", "bad_query"), ("SELECT 1) , (SELECT 2", "bad_query"),
    ("DELETE FROM t", "bad_query"), ("PRAGMA user_version", "bad_query"), ("EXPLAIN SELECT 1", "bad_query"),
    ("SELECT sql FROM sqlite_master", "not_allowed"), ("SELECT * FROM pragma_user_version", "not_allowed"),
    ("SELECT printf('%.*c', 900000000, 'x')", "bad_query"), ("SELECT zeroblob(1)", "not_allowed"),
    ("SELECT current_timestamp", "not_allowed"), ("SELECT (1", "bad_query"), ("SELECT 1)", "bad_query"),
    ("", "bad_query"),
    ("SELECT 1 --", "bad_query"), ("(SELECT 1)", "bad_query"), ("SELECT a FROM t WHERE id = new.id", "no_such_column"),
    ("SELECT count(*) FROM _freshet_log", "not_allowed"), ("VALUES (1), (randomblob(9))", "not_allowed"),
    ("WITH x AS (SELECT name FROM sqlite_master) SELECT count(*) FROM x", "not_allowed"),
    ("SELECT 1 INTO x", "bad_query"),
  ]

  @Test(arguments: statements) func refusesStatement(text: String, code: String) throws {
    let answer = try answer("alongside.x", text)
    #expect(answer.hasPrefix("\(code): alongside.x"), "\(answer)")
  }

  static let clauses: [(text: String, code: String)] = [
    ("(SELECT sql FROM sqlite_master) AS x", "not_allowed"), ("t JOIN (SELECT sql FROM sqlite_master)", "not_allowed"),
    ("t, sqlite_master", "not_allowed"), ("t JOIN sqlite_master ON 1", "not_allowed"), ("t, dbstat", "not_allowed"),
    ("t, dbstat('main')", "not_allowed"), ("sqlite_stmt", "not_allowed"), ("'sqlite_master'", "not_allowed"),
    ("\"main\".\"sqlite_master\"", "not_allowed"), ("temp.sqlite_master", "not_allowed"),
    ("fts5vocab('f', 'row')", "no_such_table"), ("bytecode('SELECT 1')", "no_such_table"), ("t WHERE (1)", "bad_query"),
    ("t GROUP BY a", "bad_query"), ("t; SELECT 1", "bad_query"), ("t) UNION SELECT * FROM (u", "bad_query"),
    ("t ON 1 WHERE 1", "bad_query"), ("t JOIN u ON printf('%.*c', 9000000, 'x')", "bad_query"),
    ("t, json_each(printf('%.*c', 9000000, 'x'))", "bad_query"), ("t JOIN u ON random()", "not_allowed"),
    ("t JOIN u ON datetime('now')", "bad_query"), ("t, (SELECT a FROM t WHERE a = sqlite_version())", "not_allowed"),
    ("t UNION ALL SELECT * FROM t", "bad_query"), ("t ORDER BY 1", "bad_query"), ("t LIMIT 1", "bad_query"),
    ("t WINDOW x AS ()", "bad_query"), ("t RETURNING a", "bad_query"), ("t LEFT JOIN", "bad_query"),
    ("t,", "bad_query"),
    ("t ON", "bad_query"), ("t AS", "bad_query"), ("WITH x AS (SELECT 1) SELECT * FROM x", "bad_query"),
    ("t JOIN u ON \"n\" = \"x\"", "no_such_column"),
  ]

  @Test(arguments: clauses) func refusesFrom(text: String, code: String) throws {
    let answer = try answer("from", text)
    #expect(answer.hasPrefix("\(code): from"), "\(answer)")
  }

  /// SQL that looks like an attempt but is harmless.
  @Test(
    arguments: CompilerFixture.expressionPlaces,
    [
      "(WITH sqlite_master AS (SELECT 1 AS x) SELECT x FROM sqlite_master)",
      "(WITH c AS (SELECT 1 AS id) SELECT count(*) FROM c)", "(WITH t AS (SELECT 1 AS id) SELECT id FROM t)",
      "(SELECT count(*) FROM t AS sqlite_master)", "(SELECT count(*) FROM json_each('[1]'))", "printf('%999.999d', 1)",
      "(VALUES (1))", "'printf(''%*d'')'", "'; DROP TABLE t; --'", "a \u{0B}", "\"a\" = 'random()'",
    ])
  func accepts(place: String, text: String) throws {
    let answer = try answer(place, text)
    #expect(answer.hasPrefix("accepted"), "\(answer)")
  }

  /// A query may also read a table that it names as a text, but is not followed through it.
  @Test(arguments: [
    ("EXISTS (SELECT 1 FROM 'V' AS y WHERE y.x = v.x)", false), ("x IN v", false), ("x IN 'v'", false),
    ("x IN \"v\"", false), ("x IN (SELECT x FROM [V])", true), ("x NOT IN main.'v'", false),
    ("x IN (SELECT x FROM 'main'.'v')", false), ("x IN (WITH u AS (SELECT x FROM 'v') SELECT x FROM u)", false),
    ("x IN (SELECT k FROM u)", true), ("EXISTS (SELECT 1 FROM 'u' WHERE n = x)", true), ("x = 'v'", true),
  ])
  func knowsWhatSubqueriesRead(filter: String, isFollowed: Bool) throws {
    var query = Query(from: "v")
    query.filter = filter
    let compiled = try CompilerFixture.compile(query).get()
    #expect((compiled.unit != nil) == isFollowed, "\(compiled.reason)")
  }
}
