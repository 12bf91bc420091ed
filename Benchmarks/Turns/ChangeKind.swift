import GRDB

/// The ways in which one row of the list can change.
enum ChangeKind: String {
  case content, sort, section, insert, delete

  /// Commits a change.
  ///
  /// - Returns: what puts the number of rows back, for changes that alter it.
  func commit(
    _ db: Database, _ id: Int, _ generator: inout SplitMix
  ) throws -> ((Database) throws -> Void)? {
    switch self {
    case .content:
      try Self.run(db, "UPDATE well SET depth = depth + 1 WHERE id = ?", [id])
    case .sort:
      try Self.run(db, "UPDATE well SET name = ? WHERE id = ?", [Self.name(id, &generator), id])
    case .section:
      try Self.run(
        db, "UPDATE well SET county = (SELECT county FROM well WHERE id = ?2) WHERE id = ?1",
        [id, try Self.neighbour(db, id)])
    case .insert:
      try Self.insert(db, id, from: 1 + id / 2, &generator)
      return { try Self.run($0, "DELETE FROM well WHERE id = ?", [id]) }
    case .delete:
      let row = try Row.fetchOne(db, sql: "SELECT * FROM well WHERE id = ?", arguments: [id])
      try Self.run(db, "DELETE FROM well WHERE id = ?", [id])
      guard let row else { throw Failure("there is no well \(id)") }
      return {
        try Self.run(
          $0, "INSERT INTO well VALUES (?, ?, ?, ?, ?, ?)", StatementArguments(Array(row.databaseValues)))
      }
    }
    return nil
  }

  /// Whether a patch says just that.
  func isExpected(_ operations: EncodingOutput.Operations) -> Bool {
    guard operations.rows == 1 || operations.sections > 0 else { return false }
    switch self {
    case .content: return operations.updated == 1
    // A name that leaves the row between the same neighbours is an update.
    case .sort: return operations.moved + operations.updated == 1
    case .section: return operations.moved == 1 || operations.sections > 0
    case .insert: return operations.inserted == 1
    case .delete: return operations.deleted == 1 || operations.sections > 0
    }
  }

  /// 200 of each kind, each to a row of its own; as many rows come as go.
  ///
  /// - Returns: what gives the rows that came the keys of those that went, so that the next ones find all keys.
  static func thousand(
    _ db: Database, rows: Int, _ generator: inout SplitMix
  ) throws -> (Database) throws -> Void {
    var ids: Set<Int> = []
    while ids.count < 800 { ids.insert(Int.random(in: 1...rows, using: &generator)) }
    var gone: [Int] = []
    for (position, id) in ids.sorted().enumerated() {
      switch position % 4 {
      case 0: _ = try ChangeKind.content.commit(db, id, &generator)
      case 1: _ = try ChangeKind.sort.commit(db, id, &generator)
      case 2: _ = try ChangeKind.section.commit(db, id, &generator)
      default:
        gone.append(id)
        try insert(db, rows + gone.count, from: id, &generator)
        try run(db, "DELETE FROM well WHERE id = ?", [id])
      }
    }
    return { [gone] db in
      for (position, id) in gone.enumerated() {
        try run(db, "UPDATE well SET id = ? WHERE id = ?", [id, rows + position + 1])
      }
    }
  }

  private static func run(_ db: Database, _ sql: String, _ arguments: StatementArguments) throws {
    let statement = try db.cachedStatement(sql: sql)
    try statement.execute(arguments: arguments)
  }

  private static func insert(_ db: Database, _ id: Int, from model: Int, _ generator: inout SplitMix) throws {
    try run(
      db, "INSERT INTO well SELECT ?, ?, county, operator, status, depth FROM well WHERE id >= ? ORDER BY id LIMIT 1",
      [id, name(id, &generator), model])
  }

  private static func name(_ id: Int, _ generator: inout SplitMix) -> String {
    let letters = (0..<3).map { _ in Character(UnicodeScalar(UInt8.random(in: 65...90, using: &generator))) }
    return "\(String(letters)) Federal \(id)"
  }

  /// A well of another county.
  private static func neighbour(_ db: Database, _ id: Int) throws -> Int {
    let sql = """
      SELECT id FROM well WHERE county <> (SELECT county FROM well WHERE id = ?1) AND id > ?1
      UNION ALL SELECT id FROM well WHERE county <> (SELECT county FROM well WHERE id = ?1) LIMIT 1
      """
    guard let other = try Int.fetchOne(db.cachedStatement(sql: sql), arguments: [id]) else {
      throw Failure("all wells are in one county")
    }
    return other
  }
}
