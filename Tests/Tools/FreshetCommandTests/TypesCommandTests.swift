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
          price: AnyValue;
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
          var price: SQLValue
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
