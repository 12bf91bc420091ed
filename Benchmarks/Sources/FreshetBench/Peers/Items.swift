import Foundation

/// Items, each of one of many owners; the first 50 of five owners of their own, ten each.
struct Items {
  private let folder: Folder
  let path: String

  /// One owner's items: queries that differ in a parameter.
  static func query(_ owner: Int) -> String {
    #"{"from":"item","where":"owner = :owner","params":{"owner":\#(owner)},"orderBy":["value"]}"#
  }

  init(rows: Int, owners: Int) throws {
    folder = try Folder()
    path = folder.path("items.sqlite")
    RawDatabase(path).execute(
      """
      CREATE TABLE owner(id INTEGER PRIMARY KEY, name TEXT NOT NULL);
      CREATE TABLE item(id INTEGER PRIMARY KEY, owner INT NOT NULL REFERENCES owner(id), value INT NOT NULL);
      WITH RECURSIVE r(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM r LIMIT \(owners + 10))
      INSERT INTO owner SELECT i, 'Owner ' || i FROM r;
      WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r LIMIT \(rows))
      INSERT INTO item SELECT i, CASE WHEN i <= 50 THEN \(owners) + 1 + i % 5 ELSE i % \(owners) END, i * 7919 % 1000 FROM r;
      CREATE INDEX item_owner ON item(owner);
      """)
  }

  func remove() { folder.remove() }
}
