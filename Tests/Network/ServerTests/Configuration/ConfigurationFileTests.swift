import Foundation
import LiveQuery
import Server
import ServerSupport
import TestSupport
import Testing

/// `freshet.yaml`.
@Suite struct ConfigurationFileTests {
  @Test func `Every setting is read`() throws {
    let file = try ConfigurationFile(
      yaml: """
        database: app.sqlite
        host: 0.0.0.0
        port: 9090
        allowWrites: true
        allowQueries: false
        allowedOrigins: [https://a.example, "https://b.example"]
        allowedHosts:
          - a.example
        followers: 3
        readers: 5
        messagesPerSecond: 50
        connectionsPerAddress: 60
        requestsPerAddress: 61
        messagesPerAddress: 62
        subscriptionsPerAddress: 63
        tls: { certificate: tls/server.crt, key: /etc/server.key }
        trustedProxies: [10.0.0.0/8, "::1"]
        metrics: 127.0.0.1:9091
        contentSecurityPolicy: ""
        headTimeout: 5
        bodyTimeout: 15
        bodyRate: 0
        readTimeout: 20
        outgoingMemory: 1 GiB
        slowQuery: 250
        transactionMemory: 4 MiB
        captureMemory: 8 MiB
        changeHistory: 9
        accessLog: logs/access.log
        auditLog: "-"
        queries:
          failedBanks:
            description: Failed banks of one state
            query: { from: bank, where: "state = :state", orderBy: [name], sectionBy: {by: year, order: DESC}, limit: 5 }
            parameters:
              state: { type: text, default: GA, description: Postal code }
              zip: { type: text, default: 05 }
              since: { type: integer }
              share: { type: real, default: 1 }
              open: { type: boolean, default: false }
              mark: { type: blob, default: AQI= }
              maybe: { type: text, default: null }
              number: { type: any, default: 5 }
              digits: { type: any, default: "5" }
        """, name: "x.yaml", folder: "/etc/freshet")
    #expect(file.door.certificate == "/etc/freshet/tls/server.crt" && file.door.key == "/etc/server.key")
    #expect(file.door.trustedProxies == ["10.0.0.0/8", "::1"] && file.door.contentSecurityPolicy == "")
    #expect(file.door.metrics == SocketAddress(host: "127.0.0.1", port: 9_091))
    #expect(file.database == ["/etc/freshet/app.sqlite"] && file.host == "0.0.0.0" && file.port == 9_090)
    #expect(file.allowWrites == true && file.allowQueries == false)
    #expect(file.allowedOrigins == ["https://a.example", "https://b.example"] && file.allowedHosts == ["a.example"])
    #expect(
      file.limits == [
        .followers: 3, .readers: 5, .messagesPerSecond: 50, .connectionsPerAddress: 60,
        .requestsPerAddress: 61, .messagesPerAddress: 62, .subscriptionsPerAddress: 63, .headTimeout: 5,
        .bodyTimeout: 15, .bodyRate: 0, .readTimeout: 20, .outgoingMemory: 1 << 30,
        .slowQuery: 250, .transactionMemory: 4 << 20, .captureMemory: 8 << 20, .changeHistory: 9,
      ])
    #expect(file.accessLog == .file("/etc/freshet/logs/access.log") && file.auditLog == .standardOutput)
    #expect(LimitSetting.connectionsPerAddress.variable == "FRESHET_CONNECTIONS_PER_ADDRESS")
    let query = try #require(file.queries.first)
    #expect(query.name == "failedBanks" && query.description == "Failed banks of one state")
    #expect(query.query.from == "bank" && query.query.filter == "state = :state" && query.query.limit == 5)
    #expect(query.query.sectionBy?.isDescending == true)
    let values = Dictionary(uniqueKeysWithValues: query.parameters.map { ($0.name, $0.defaultValue) })
    #expect(
      values == [
        "state": .text("GA"), "zip": .text("05"), "since": nil, "share": .real(1), "open": .integer(0),
        "mark": .blob([1, 2]), "maybe": .null, "number": .integer(5), "digits": .text("5"),
      ])
  }

  @Test(arguments: ["", "# nothing", "queries: {}", "queries:", "host:"])
  func `A file may say nothing`(yaml: String) throws {
    let file = try ConfigurationFile(yaml: yaml, name: "x.yaml")
    #expect(file.queries.isEmpty && file.host == nil)
  }

  /// A file, and the one sentence.
  @Test(arguments: [
    ("nosuch: 1", "x.yaml, line 1: nosuch is not a setting"),
    ("\nport: x", "x.yaml, line 2: port must be a number from 0 to 65535"),
    ("messagesPerSecond: -1", "x.yaml, line 1: messagesPerSecond must be a number from 0 to 1000000"),
    ("tls: {certificate: a}", "x.yaml, line 1: tls needs certificate and key, both"),
    ("tls:\n  cert: a", "x.yaml, line 2: tls.cert is unknown: tls has certificate and key"),
    ("metrics: 9090", "x.yaml, line 1: metrics must be an address and a port, such as 127.0.0.1:9090"),
    ("port: 70000", "x.yaml, line 1: port must be a number from 0 to 65535"),
    ("allowWrites: yes", "x.yaml, line 1: allowWrites must be true or false"),
    ("allowWrites: \"true\"", "x.yaml, line 1: allowWrites must be true or false"),
    ("host: [a]", "x.yaml, line 1: host must be a single value"),
    ("allowedOrigins: a", "x.yaml, line 1: allowedOrigins must be a list"),
    ("- a", "x.yaml, line 1: the file must be a mapping (name: value)"),
    ("queries: [a]", "x.yaml, line 1: queries must be a mapping (name: value)"),
    ("queries:\n  a: {}", "x.yaml, line 2: queries.a has no query"),
    (
      "queries:\n  a b: {query: {from: t}}",
      "x.yaml, line 2: queries.a b must be named with 1 to 64 letters, digits, _, - and ."
    ),
    (
      "queries:\n  a:\n    query: {where: x}",
      "x.yaml, line 3: queries.a.query is no query: query.from is missing"
    ),
    (
      "queries:\n  a:\n    query: {from: t, form: u}",
      "x.yaml, line 3: queries.a.query.form is no part of a query: did you mean from?"
    ),
    (
      "queries:\n  a:\n    query: {from: t, params: {x: 1}}",
      "x.yaml, line 3: queries.a.query.params is not for published queries: declare parameters"
    ),
    (
      "queries:\n  a:\n    query: {from: t}\n    x: 1",
      "x.yaml, line 4: queries.a.x is unknown: a published query has description, query, parameters, unfiltered and open"
    ),
    (
      "queries: {a: {query: {from: t}, parameters: {p: {type: number}}}}",
      "x.yaml, line 1: queries.a.parameters.p.type must be one of integer, real, text, boolean, blob, any"
    ),
    (
      "queries: {a: {query: {from: t}, parameters: {p: {type: integer, default: x}}}}",
      "x.yaml, line 1: queries.a.parameters.p.default must be of the type integer"
    ),
    (
      "queries: {a: {query: {from: t}, open: true, parameters: {p: {}}}}",
      "x.yaml, line 1: queries.a is kept open, and p has no value: give it a default"
    ),
    ("roles: {a: {limits: {row: 1}}}", "x.yaml, line 1: roles.a.limits.row is unknown: did you mean rows?"),
    ("tls:\n  keys: a", "x.yaml, line 2: tls.keys is unknown: did you mean key?"),
    (
      "roles: {a: {limits: {color: 1}}}",
      "x.yaml, line 1: roles.a.limits.color is unknown: a role's limits are connections, subscriptions, messages, requests, "
        + "queries, time, rows and bytes"
    ),
    ("roles: {a: {limits: {rows: 0}}}", "x.yaml, line 1: roles.a.limits.rows must be a number from 1 to 1000000"),
    ("statements: {a: {}}", "x.yaml, line 1: statements.a has no sql"),
    (
      "statements: {a b: {sql: x}}",
      "x.yaml, line 1: statements.a b must be named with 1 to 64 letters, digits, _, - and ."
    ),
    (
      "statements: {a: {sql: x, y: 1}}",
      "x.yaml, line 1: statements.a.y is unknown: a published statement has description, sql, parameters and expect"
    ),
    (
      "statements: {a: {sql: x, expect: {rows: 1}}}",
      "x.yaml, line 1: statements.a.expect.rows is unknown: what is expected is a number of changes"
    ),
    (
      "statements: {a: {sql: x, expect: {changes: -1}}}",
      "x.yaml, line 1: statements.a.expect.changes must be a number of rows"
    ),
    (
      "statements: {a: {sql: x, parameters: {claims_sub: {}}}}",
      "x.yaml, line 1: statements.a.parameters.claims_sub is named as a claim: those have their values from the token"
    ),
    ("roles: {a: {queries: [b]}}", "x.yaml, line 1: the role a names the query b, which is not published"),
    ("roles: {a: {statements: b}}", "x.yaml, line 1: the role a names the statement b, which is not published"),
    ("roles: [a]", "x.yaml, line 1: roles must be a mapping (name: value)"),
    (
      "roles:\n  a:\n    table: {}",
      "x.yaml, line 3: roles.a.table is unknown: did you mean tables?"
    ),
    ("roles: {a: {write: all}}", "x.yaml, line 1: roles.a.write must be any, or not be there"),
    (
      "roles: {a: {tables: {t: {row: x}}}}",
      "x.yaml, line 1: roles.a.tables.t.row is unknown: did you mean rows?"
    ),
    (
      "roles: {a: {tables: {t: {columns: []}}}}",
      "x.yaml, line 1: roles.a.tables.t.columns names no column: leave the table out"
    ),
    (
      "roles: {a: {tables: {t: {}, T: {}}}}",
      "x.yaml, line 1: roles.a.tables.T is there twice: names of tables are one in upper and lower case"
    ),
    ("a: 1\na: 2", "x.yaml: line 1: a is there twice"),
    ("a: [1", "x.yaml: line 2: did not find expected ',' or ']'"),
    ("\ta: 1", "x.yaml: line 1: found character that cannot start any token"),
  ])
  func `What is wrong is said with its place`(yaml: String, sentence: String) {
    #expect {
      try ConfigurationFile(yaml: yaml, name: "x.yaml")
    } throws: {
      return "\($0)" == sentence
    }
  }

  // MARK: - The command

  /// The file, the flags, and the resulting configuration.
  @Test func `Flags override the file, whose path the database's starts at`() throws {
    let folder = try ProgramFolder()
    let yaml = """
      database: a b.sqlite
      host: nosuch.invalid
      port: 1
      allowQueries: false
      queries: {all: {query: {from: t}}}
      """
    let path = folder.path + "/freshet.yaml"
    try write(yaml, path)
    let program = try Program(["serve", "--config", path, "--host", "127.0.0.1", "--port", "0"])
    let port = try program.port()
    #expect(try RawSocket(port: port).request("GET", "/v1/snapshot?from=t").status == 403)
    #expect(try RawSocket(port: port).request("GET", "/v1/queries/all").text.contains("\"total\":1"))
    program.signal(SIGTERM)
    #expect(program.status(within: 30) == 0)
  }

  @Test func `A wrong file is one sentence and the status 1`() throws {
    let folder = try ProgramFolder()
    let path = folder.path + "/freshet.yaml"
    try write("port: x", path)
    let wrong = try Program.run("serve", folder.database, "--config", path)
    #expect(wrong.status == 1 && wrong.errors == "Error: \(path), line 1: port must be a number from 0 to 65535\n")
    let missing = try Program.run("serve", folder.database, "--config", folder.path + "/nosuch.yaml")
    #expect(missing.status == 1 && missing.errors == "Error: cannot read \(folder.path)/nosuch.yaml\n")
  }

  @Test func `A query that the database cannot answer is warned of, and no other`() throws {
    let folder = try ProgramFolder()
    let path = folder.path + "/freshet.yaml"
    let yaml = """
      queries:
        good: {query: {from: t, where: "a = :a"}, parameters: {a: {}}}
        bad: {query: {from: nosuch}}
      """
    try write(yaml, path)
    let program = try Program(["serve", folder.database, "--config", path, "--port", "0"])
    #expect(try RawSocket(port: try program.port()).request("GET", "/v1/queries/good?param.a=x").status == 200)
    #expect(try program.waits(forLog: "the published query bad cannot be answered: ", seconds: 30))
    program.signal(SIGTERM)
    #expect(program.status(within: 30) == 0)
    let warnings = try program.errorOutput().split(separator: "\n").filter { $0.contains("the published query") }
    #expect(warnings.count == 1)
  }

  @Test func `Where other machines can reach the server, queries of one's own are for who says so`() throws {
    let folder = try ProgramFolder()
    for (flags, status) in [([], 403), (["--allow-queries"], 200)] {
      let program = try Program(["serve", folder.database, "--host", "0.0.0.0", "--port", "0"] + flags)
      #expect(try RawSocket(port: try program.port()).request("GET", "/v1/snapshot?from=t").status == status)
      program.signal(SIGTERM)
      #expect(program.status(within: 30) == 0)
    }
  }

  private func write(_ text: String, _ path: String) throws {
    try text.write(toFile: path, atomically: true, encoding: .utf8)
  }
}
