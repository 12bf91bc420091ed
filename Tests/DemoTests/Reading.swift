import GRDB

/// The first value of a query, on a connection of its own.
func value<Value: DatabaseValueConvertible>(_ path: String, _ sql: String) throws -> Value? {
  try DatabaseQueue(path: path).read { try Value.fetchOne($0, sql: sql) }
}

func values<Value: DatabaseValueConvertible>(_ path: String, _ sql: String, as: Value.Type) throws -> [Value] {
  try DatabaseQueue(path: path).read { try Value.fetchAll($0, sql: sql) }
}

/// Every well with every column.
func contents(_ path: String) throws -> [Row] {
  try DatabaseQueue(path: path).read { try Row.fetchAll($0, sql: "SELECT * FROM well ORDER BY id") }
}
