import Foundation
import GRDB
import TestSupport

@testable import Import

extension TemporaryFolder {
  /// A CSV file with these bytes.
  func csv(_ bytes: [UInt8], _ name: String = "list.csv") throws -> CSVFile {
    try Data(bytes).write(to: URL(fileURLWithPath: path(name)))
    return try CSVFile(path(name))
  }

  func csv(_ text: String, _ name: String = "list.csv") throws -> CSVFile { try csv(Array(text.utf8), name) }

  /// Imports a file with this text into the table `t` of a database.
  @discardableResult
  func importing(
    _ text: String, into database: String = "db.sqlite", configure: (inout CSVImport.Options) -> Void = { _ in }
  ) throws -> ImportSummary {
    var options = CSVImport.Options()
    configure(&options)
    return try CSVImport(try csv(text), table: "t", options: options).run(into: path(database))
  }

  /// The rows that SQL gives, each as its values in SQL's own notation.
  func rows(_ sql: String, of database: String = "db.sqlite") throws -> [String] {
    try DatabaseQueue(path: path(database)).read { db in
      try Row.fetchAll(db, sql: sql).map { row in
        row.databaseValues.map(\.literal).joined(separator: " ")
      }
    }
  }

  /// The message of the `ImportError` that `body` throws, without the folder's path.
  func message(_ body: () throws -> Void) -> String {
    do {
      try body()
      return "no error"
    } catch {
      return "\(error)".replacingOccurrences(of: path("x").dropLast(), with: "")
    }
  }
}

extension DatabaseValue {
  fileprivate var literal: String {
    switch storage {
    case .null: "NULL"
    case .int64(let value): "\(value)"
    case .double(let value): "\(value)"
    case .string(let value): "'\(value)'"
    case .blob(let value): "x'\(value.map { String($0, radix: 16) }.joined())'"
    }
  }
}
