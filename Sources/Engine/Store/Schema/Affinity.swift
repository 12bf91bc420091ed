/// SQLite's column affinities. Each raw value is a type that has the affinity.
package enum Affinity: String {
  case integer = "INTEGER"
  case text = "TEXT"
  case blob = "BLOB"
  case real = "REAL"
  case numeric = "NUMERIC"

  /// Applies the rules of SQLite's documentation (datatype3, 3.1). Nil for ANY, which depends on the table.
  package init?(declaredType: String) {
    let type = declaredType.uppercased()
    if type == "ANY" { return nil }
    if type.contains("INT") {
      self = .integer
    } else if type.contains("CHAR") || type.contains("CLOB") || type.contains("TEXT") {
      self = .text
    } else if type.isEmpty || type.contains("BLOB") {
      self = .blob
    } else if type.contains("REAL") || type.contains("FLOA") || type.contains("DOUB") {
      self = .real
    } else {
      self = .numeric
    }
  }
}
