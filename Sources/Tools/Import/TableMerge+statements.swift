import GRDB
import Store

extension TableMerge {
  typealias Counts = (inserted: Int, updated: Int, deleted: Int)

  private var target: String { "main.\(quotedIdentifier(table.name))" }

  /// The table's column that a column of the file goes to.
  private func name(_ index: Int) -> String { quotedIdentifier(columns[index].name) }

  /// All comparisons are of bytes: a column's own collation may take texts for one that differ.
  private func isSame(_ left: String, _ right: String) -> String { "\(left) IS \(right) COLLATE BINARY" }

  /// Updates the rows that differ, deletes those that the file does not have, inserts the others.
  ///
  /// Rows go before others come: other unique values than the key may pass from one row to another.
  func mergeByKey(_ key: [Int], _ db: Database) throws -> Counts {
    try refuseDuplicates(key, db)
    let theirs = key.map { "\(name($0)) COLLATE BINARY" }.joined(separator: ", ")
    let mine = key.map { "c\($0)" }.joined(separator: ", ")
    let isKeyed = key.map { "\(name($0)) IS NOT NULL" }.joined(separator: " AND ")
    try db.execute(
      sql: "DELETE FROM \(target) WHERE NOT (\(isKeyed)) OR (\(theirs)) NOT IN (SELECT \(mine) FROM temp.staged)")
    let deleted = db.changesCount
    let updated = try update(key, db)
    let order = columns.indices.map(name).joined(separator: ", ")
    let values = columns.indices.map { "c\($0)" }.joined(separator: ", ")
    let bytes = key.map { "c\($0) COLLATE BINARY" }.joined(separator: ", ")
    try db.execute(
      sql: """
        INSERT INTO \(target)(\(order)) SELECT \(values) FROM temp.staged
        WHERE (\(bytes)) NOT IN (SELECT \(key.map(name).joined(separator: ", ")) FROM \(target)) ORDER BY line
        """)
    return (db.changesCount, updated, deleted)
  }

  private func update(_ key: [Int], _ db: Database) throws -> Int {
    let others = columns.indices.filter { !key.contains($0) }
    guard !others.isEmpty else { return 0 }
    let differences = others.map { index in
      let comparison = "t.\(name(index)) IS NOT s.c\(index) COLLATE BINARY"
      return columns[index].isExact
        ? comparison : "\(comparison) OR typeof(t.\(name(index))) <> typeof(s.c\(index))"
    }
    try db.execute(
      sql: """
        UPDATE \(target) AS t SET \(others.map { "\(name($0)) = s.c\($0)" }.joined(separator: ", "))
        FROM temp.staged AS s
        WHERE \(key.map { "s.c\($0) = t.\(name($0)) COLLATE BINARY" }.joined(separator: " AND "))
          AND (\(balanced(differences, by: "OR")))
        """)
    return db.changesCount
  }

  /// A key that the user names need not be one to the table.
  private func refuseDuplicates(_ key: [Int], _ db: Database) throws {
    let bytes = key.map { "\(name($0)) COLLATE BINARY" }.joined(separator: ", ")
    let isKeyed = key.map { "\(name($0)) IS NOT NULL" }.joined(separator: " AND ")
    let sql = "SELECT \(name(key[0])) FROM \(target) WHERE \(isKeyed) GROUP BY \(bytes) HAVING count(*) > 1 LIMIT 1"
    guard let value = try DatabaseValue.fetchOne(db, sql: sql) else { return }
    let text = String.fromDatabaseValue(value) ?? "\(value.storage.value ?? "")"
    throw ImportError(
      .mismatch,
      "the table \(table.name) has several rows with the key \(identifierForPeople(columns[key[0]].name)) \(text)")
  }

  /// Numbers the rows of the file that are the same, for `mergeWholeRows`: without a lock, for only the temporary table is
  /// read.
  func numberStaged(_ db: Database) throws {
    let values = columns.indices.map { "c\($0)" }
    // An index has 2,000 columns at most; the first ones tell most rows apart.
    let indexed = values.prefix(30) + ["n"]
    try db.execute(
      sql: """
        CREATE TEMP TABLE numbered AS
          SELECT \(values.joined(separator: ", ")), line, \(number(values, by: "line")) AS n FROM temp.staged;
        CREATE INDEX temp.numbered_values ON numbered(\(indexed.joined(separator: ", ")));
        """)
  }

  /// Deletes the rows that the file does not have and inserts those that the table does not have. Of rows that are all the
  /// same, as many stay as both have.
  ///
  /// - Parameter key: the table's own, which the file does not have.
  func mergeWholeRows(_ key: String, _ db: Database) throws -> Counts {
    let values = columns.indices.map { "c\($0)" }
    let same = balanced(columns.indices.map { isSame("s.c\($0)", "t.c\($0)") } + ["s.n = t.n"], by: "AND")
    let theirs = columns.indices.map { "\(name($0)) AS c\($0)" }.joined(separator: ", ")
    try db.execute(
      sql: """
        CREATE TEMP TABLE kept AS SELECT s.line AS line, t."key" AS "key"
          FROM (SELECT \(quotedIdentifier(key)) AS "key", \(theirs),
              \(number(columns.indices.map(name), by: quotedIdentifier(key))) AS n FROM \(target)) AS t
            CROSS JOIN temp.numbered AS s ON \(same);
        DELETE FROM \(target) WHERE \(quotedIdentifier(key)) NOT IN (SELECT "key" FROM temp.kept);
        """)
    let deleted = db.changesCount
    try db.execute(
      sql: """
        INSERT INTO \(target)(\(columns.indices.map(name).joined(separator: ", ")))
        SELECT \(values.joined(separator: ", ")) FROM temp.staged
        WHERE line NOT IN (SELECT line FROM temp.kept) ORDER BY line
        """)
    return (db.changesCount, 0, deleted)
  }

  /// Counts rows that are the same, from 1.
  private func number(_ values: [String], by order: String) -> String {
    let bytes = values.map { "\($0) COLLATE BINARY" }.joined(separator: ", ")
    return "row_number() OVER (PARTITION BY \(bytes) ORDER BY \(order))"
  }
}
