import Foundation
import GRDB
import Testing

@testable import Demo

@Suite struct DemoDatabaseTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test func `One seed is one content, another seed another`() throws {
    let first = try folder.demo("first", rows: 1_500, seed: 7)
    #expect(try contents(first) == contents(folder.demo("again", rows: 1_500, seed: 7)))
    #expect(try contents(first) != contents(folder.demo("other", rows: 1_500, seed: 8)))
  }

  /// The contents of one seed are part of what users see and compare: a change here needs a new schema version.
  @Test func `The first wells of the default seed`() throws {
    let path = try folder.demo("wells", rows: 100, seed: DemoDatabase.defaultSeed)
    let sql = "SELECT name || ', ' || county || ', ' || depth FROM well WHERE id = 1"
    #expect(try value(path, sql) == "Rodeo Ranch 22H, Weld, 14219.6")
  }

  @Test(arguments: [0, 1, 92, 3_000]) func `There are as many wells as asked for`(rows: Int) throws {
    let path = try folder.demo("wells", rows: rows)
    #expect(try value(path, "SELECT count(*) FROM well") == rows)
  }

  @Test func `No county is empty, and some are far larger than others`() throws {
    let path = try folder.demo("wells", rows: 20_000)
    let counts = try values(path, "SELECT count(*) FROM well GROUP BY county ORDER BY 1", as: Int.self)
    #expect(counts.count == County.all.count)
    #expect(counts.last! > 1_500)
    #expect(counts[counts.count / 2] < 300)
    #expect(counts.first! < 20)
  }

  @Test func `No county's name comes twice`() {
    #expect(Set(County.all.map(\.name)).count == County.all.count)
  }

  @Test func `The names in a well are those its ids say`() throws {
    let path = try folder.demo("wells", rows: 2_000)
    let matching = """
      SELECT count(*) FROM well JOIN county ON county.id = county_id JOIN operator ON operator.id = operator_id
      WHERE county.name = well.county AND operator.name = well.operator
      """
    #expect(try value(path, matching) == 2_000)
    #expect(try value(path, "SELECT count(*) FROM well WHERE depth NOT BETWEEN 1100 AND 23000") == 0)
  }

  @Test func `The file is in WAL mode and whole`() throws {
    let path = try folder.demo("wells", rows: 500)
    #expect(try value(path, "PRAGMA journal_mode") == "wal")
    #expect(try value(path, "PRAGMA integrity_check") == "ok")
    #expect(DemoDatabase.isCurrent(at: path))
  }

  @Test func `Progress rises to the number of rows`() throws {
    var seen: [Int] = []
    let path = folder.path("wells")
    try DemoDatabase.create(at: path, rows: 5_000) { seen.append($0) }
    #expect(seen == [2_000, 4_000, 5_000])
  }
}
