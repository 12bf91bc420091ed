import Foundation
import ServerSupport
import TestSupport
import Testing

/// `freshet types`.
struct TypesCommandTests {
  private static let schema = """
    CREATE TABLE bank(id INTEGER PRIMARY KEY, name TEXT NOT NULL, "close date" DATE, depth REAL, logo BLOB, price NUMERIC, "class" INT);
    CREATE TABLE "order-items"(a TEXT, b INT, PRIMARY KEY(a, b)) WITHOUT ROWID;
    CREATE VIEW "order items" AS SELECT a, b + 1 AS next FROM "order-items";
    """

  private func types(_ arguments: [String], _ folder: ProgramFolder) throws -> String {
    let result = try Program.run(["types", folder.database] + arguments)
    #expect(result.status == 0 && result.errors == "", "\(result.errors)")
    return result.output
  }

  @Test func `TypeScript has an interface for each table and view`() throws {
    let output = try types([], try ProgramFolder(Self.schema))
    #expect(
      output.contains(
        """
        /** The table bank. */
        export interface Bank {
          id: number;
          name: string;
          "close date": string | null;
          depth: number | null;
          logo: Uint8Array | null;
          price: number | null;
          class: number | null;
        }
        """), "\(output)")
    #expect(
      output.contains("export interface OrderItems2 {\n  a: string;\n  b: number;\n}")
        && output.contains("export interface OrderItems {\n  a: string | null;\n  next: AnyValue;\n}"), "\(output)")
  }

  @Test func `Swift has a structure that RowDecoder fills`() throws {
    let output = try types(["--language", "swift"], try ProgramFolder(Self.schema))
    #expect(
      output.contains(
        """
        /// The table bank.
        struct Bank: Decodable, Hashable, Sendable {
          var id: Int
          var name: String
          var closeDate: String?
          var depth: Double?
          var logo: Data?
          var price: Double?
          var `class`: Int?

          enum CodingKeys: String, CodingKey {
            case id
            case name
            case closeDate = "close date"
            case depth
            case logo
            case price
            case `class` = "class"
          }
        }
        """), "\(output)")
  }

  private static let enumerated = """
    CREATE TABLE task(id INTEGER PRIMARY KEY, status TEXT NOT NULL CHECK (status IN ('open', 'done "well"')), total DECIMAL(10,2), x);
    CREATE TABLE "odd one"("a b" TEXT, "class" INT);
    """

  @Test func `A column whose CHECK lists its texts has these, and a decimal is a number`() throws {
    let folder = try ProgramFolder(Self.enumerated)
    let script = try types([], folder)
    #expect(script.contains(#"  status: "open" | "done \"well\"";"#), "\(script)")
    #expect(script.contains("  total: number | null;\n  x: AnyValue;"), "\(script)")
    #expect(try types(["--language", "swift"], folder).contains("  var status: String\n  var total: Double?\n"))
  }

  @Test func `Python has a class for each table, which Python takes`() throws {
    let folder = try ProgramFolder(Self.enumerated + Self.awkward)
    let script = try types(["--language", "python"], folder)
    let expected = #"""
      @dataclass
      class Task:
          """The table task."""

          id: int
          status: Literal["open", "done \"well\""]
          total: Optional[float]
          x: Any
      """#
    #expect(script.contains(expected), "\(script)")
    #expect(
      script.contains(
        "OddOne = TypedDict(\"OddOne\", {\n    \"a b\": Optional[str],\n    \"class\": Optional[int],\n})"))
    try accepts("python3", "-c", script)
  }

  /// Checks that a compiler or interpreter accepts the output.
  private func accepts(_ command: String...) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = command
    let output = Pipe()
    process.standardError = output
    try process.run()
    let errors = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 0, "\(errors)")
  }

  @Test func `A server's tables have the types of its file's`() throws {
    let folder = try ProgramFolder(Self.enumerated)
    let program = try Program(["serve", folder.database, "--port", "0"])
    let address = "http://127.0.0.1:\(try program.port())"
    for language in ["typescript", "swift", "python"] {
      let served = try Program.run(["types", address, "--language", language])
      let expected = try types(["--language", language], folder)
      #expect(served.status == 0 && served.output == expected, "\(served)")
    }
    program.stop()
  }

  /// Awkward names of tables, such as Calibre's `data`: compilers must accept the output for all of them.
  private static let awkward = """
    CREATE TABLE data(id INTEGER PRIMARY KEY, b BLOB); CREATE TABLE string(s TEXT, self TEXT, "Type" INT, init INT);
    CREATE TABLE "int"(i INT, "1" INT, "" INT, "a b" INT, a_b INT, "$" INT);
    CREATE TABLE "double"(d REAL); CREATE TABLE "SQLValue"(v); CREATE TABLE decodable(a); CREATE TABLE hashable(a); CREATE TABLE sendable(a);
    CREATE TABLE "codingKey"(a); CREATE TABLE any(a); CREATE TABLE self(a); CREATE TABLE type(a); CREATE TABLE protocol(a);
    CREATE TABLE "uint8Array"(a); CREATE TABLE "anyValue"(a); CREATE TABLE "end */ of it"("c *" TEXT);
    CREATE TABLE "two
    lines"("a
    b" INT); CREATE TABLE dataRow(a); CREATE TABLE "1"(a); CREATE TABLE class(class, "where"); CREATE TABLE "été"("ß" INT);
    """

  @Test func `Names of tables end no comment and hide no type`() throws {
    let folder = try ProgramFolder(Self.awkward)
    let script = try types([], folder)
    #expect(
      script.split(separator: "*/", omittingEmptySubsequences: false).count == script.split(separator: "/**").count)
    #expect(
      script.contains("export interface DataRow {") && script.contains("export interface AnyValueRow {"), "\(script)")
    let names = script.split(separator: "\n").filter { $0.hasPrefix("export") }
    #expect(Set(names).count == names.count)
    let file = folder.path + "/Tables.swift"
    try types(["--language", "swift"], folder)
      .replacing("import FreshetResults", with: "enum SQLValue: Decodable, Hashable, Sendable { case null }")
      .write(toFile: file, atomically: true, encoding: .utf8)
    try accepts("swiftc", "-typecheck", file)
  }

  @Test func `Published queries have types as well`() throws {
    let folder = try ProgramFolder(Self.schema)
    let file = folder.path + "/freshet.yaml"
    try """
    queries:
      topBanks: { query: { from: bank, select: [name, depth, count(*) AS n], groupBy: [name] } }
    """.write(toFile: file, atomically: true, encoding: .utf8)
    let output = try types(["--config", file], folder)
    #expect(
      output.contains(
        "/** The published query topBanks. */\nexport interface TopBanks {\n  name: string | null;\n"
          + "  depth: number | null;\n  n: AnyValue;\n}"), "\(output)")
  }
}
