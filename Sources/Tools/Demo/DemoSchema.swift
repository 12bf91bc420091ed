import LiveQuery
import Store

/// The tables of the demo. No index: Freshet keeps the order itself.
enum DemoSchema {
  /// Raised whenever tables or contents change, so that a cached database of an older kind is made anew.
  static let version = 3

  static let tables = """
    CREATE TABLE operator(id INTEGER PRIMARY KEY, name TEXT NOT NULL);
    CREATE TABLE county(id INTEGER PRIMARY KEY, name TEXT NOT NULL, state TEXT NOT NULL);
    CREATE TABLE well(
      id INTEGER PRIMARY KEY,
      name TEXT NOT NULL,
      county TEXT NOT NULL,
      operator TEXT NOT NULL,
      status TEXT NOT NULL,
      depth REAL NOT NULL,
      spud_date TEXT,
      county_id INTEGER NOT NULL REFERENCES county(id),
      operator_id INTEGER NOT NULL REFERENCES operator(id));
    CREATE TABLE bank(
      id INTEGER PRIMARY KEY,
      name TEXT NOT NULL,
      city TEXT NOT NULL,
      state TEXT NOT NULL,
      cert INTEGER NOT NULL);
    CREATE TABLE closing(
      bank_id INTEGER PRIMARY KEY REFERENCES bank(id),
      closed TEXT NOT NULL,
      acquirer TEXT,
      assets REAL NOT NULL);
    """

  /// All but the id.
  static let wellColumns = "name, county, operator, status, depth, spud_date, county_id, operator_id"

  static let insertWell = """
    INSERT INTO well(\(wellColumns))
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    """
}

extension Bank {
  /// Inserts the bank and its closing, in the caller's transaction.
  func insert(_ db: Connection) throws {
    try db.run(
      "INSERT INTO bank(name, city, state, cert) VALUES (?, ?, ?, ?)",
      [.text(name), .text(city), .text(state), .integer(Int64(certificate))])
    try db.run(
      "INSERT INTO closing(bank_id, closed, acquirer, assets) VALUES (last_insert_rowid(), ?, ?, ?)",
      [.text(closing.date), closing.acquirer.map { .text($0) } ?? nil, .real(closing.assets)])
  }
}

extension Well {
  /// The values of `DemoSchema.insertWell`.
  var values: [SQLValue] {
    [
      .text(name), .text(County.all[county].name), .text(Operators.names[`operator`]), .text(status), .real(depth),
      spudDate.map { .text($0) } ?? nil, .integer(Int64(county + 1)), .integer(Int64(`operator` + 1)),
    ]
  }
}
