import Demo
import GRDB
import TestSupport

/// The first value of a query, read by a separate connection.
func value<Value: DatabaseValueConvertible>(_ path: String, _ sql: String) throws -> Value? {
  try DatabaseQueue(path: path).read { try Value.fetchOne($0, sql: sql) }
}

func values<Value: DatabaseValueConvertible>(_ path: String, _ sql: String, as: Value.Type) throws -> [Value] {
  try DatabaseQueue(path: path).read { try Value.fetchAll($0, sql: sql) }
}

/// Every well and every bank with every column.
func contents(_ path: String) throws -> [[Row]] {
  try DatabaseQueue(path: path).read { db in
    try ["well ORDER BY id", "bank ORDER BY id", "closing ORDER BY bank_id"].map {
      try Row.fetchAll(db, sql: "SELECT * FROM \($0)")
    }
  }
}

extension TemporaryFolder {
  /// The path of a new demo database.
  func demo(_ name: String, rows: Int, seed: UInt64 = 1) throws -> String {
    try DemoDatabase.create(at: path(name), rows: rows, seed: seed)
    return path(name)
  }
}
