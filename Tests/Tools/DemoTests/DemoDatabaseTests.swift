import Foundation
import GRDB
import TestSupport
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

  @Test func `The first banks of the default seed`() throws {
    let path = try folder.demo("wells", rows: 0, seed: DemoDatabase.defaultSeed)
    let sql = """
      SELECT printf('%s, %s, %s, %d, %s, %s, %.1f', name, city, state, cert, closed, acquirer, assets)
      FROM bank JOIN closing ON bank_id = id WHERE id = 1
      """
    #expect(
      try value(path, sql)
        == "Planters Thrift & Loan of Cold Spring, Walnutport, GA, 1015, 1990-03-02, Tallgrass Bank & Trust, 98.3")
  }

  @Test(arguments: [0, 5_000]) func `There are 600 failed banks, whole ones, whatever the number of wells`(rows: Int)
    throws
  {
    let path = try folder.demo("wells", rows: rows)
    let bank = "FROM bank JOIN closing ON closing.bank_id = bank.id"
    #expect(try value(path, "SELECT count(*) \(bank)") == 600)
    #expect(try value(path, "SELECT count(DISTINCT cert) \(bank) WHERE cert > 1000 AND length(state) = 2") == 600)
    #expect(
      try value(path, "SELECT count(*) \(bank) WHERE date(closed) = closed AND strftime('%w', closed) = '5'") == 600)
    #expect(try value(path, "SELECT count(*) \(bank) WHERE assets NOT BETWEEN 12 AND 32000") == 0)
    let unsold: Int = try #require(try value(path, "SELECT count(*) \(bank) WHERE acquirer IS NULL"))
    #expect((10...80).contains(unsold))
  }

  @Test func `Most closings are of 2009 to 2011, some of 1985 to 1992, and states differ`() throws {
    let path = try folder.demo("wells", rows: 0)
    func closed(_ first: Int, _ last: Int) throws -> Int {
      try #require(
        try value(path, "SELECT count(*) FROM closing WHERE substr(closed, 1, 4) BETWEEN '\(first)' AND '\(last)'"))
    }
    #expect(try closed(2009, 2011) > 300)
    #expect((40...150).contains(try closed(1985, 1992)))
    #expect((5...80).contains(try closed(2014, 2024)))
    #expect(try closed(1985, 2024) == 600)
    let states = try values(path, "SELECT count(*) FROM bank GROUP BY state ORDER BY 1", as: Int.self)
    #expect(states.count > 30 && states.last! > 50 && states.first! < 5)
  }

  @Test(arguments: [
    (2010, 0, "2010-01-01"), (2010, 51, "2010-12-24"), (2008, 8, "2008-02-29"), (2009, 11, "2009-03-20"),
    (2000, 51, "2000-12-29"), (2024, 0, "2024-01-05"), (2009, 4, "2009-01-30"),
  ]) func `Fridays`(year: Int, number: Int, date: String) {
    #expect(Friday.date(year: year, number: number) == date)
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
