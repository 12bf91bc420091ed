import Foundation
import GRDB
import Store
import TestSupport
import Testing

@testable import Demo

@Suite struct DemoWriterTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test func `Another connection sees every kind of change`() throws {
    let path = try folder.demo("wells", rows: 1_000)
    let reader = try DatabaseQueue(path: path)
    let before = try version(reader)
    let made = Set(try write(path, times: 1_500, seed: 3))
    #expect(made.isSuperset(of: DemoWriter.WellChange.allCases.map { .well($0) }))
    #expect(made.isSuperset(of: BankChange.allCases.map { .bank($0) }))
    #expect(try version(reader) != before)
  }

  @Test func `One seed makes one sequence of changes`() throws {
    let paths = try ["a", "b", "c"].map { try folder.demo($0, rows: 400) }
    _ = try write(paths[0], times: 200, seed: 5)
    _ = try write(paths[1], times: 200, seed: 5)
    _ = try write(paths[2], times: 200, seed: 6)
    #expect(try contents(paths[0]) == contents(paths[1]))
    #expect(try contents(paths[0]) != contents(paths[2]))
  }

  @Test(arguments: [(1_000, 1_000), (1_000, 900), (900, 1_000)])
  func `The number of wells comes and stays near the target`(rows: Int, target: Int) throws {
    let path = try folder.demo("wells", rows: rows)
    _ = try write(path, times: 3_000, seed: 1, target: target)
    let count: Int = try #require(try value(path, "SELECT count(*) FROM well"))
    #expect(abs(count - target) <= 20)
  }

  @Test(arguments: [0, 1]) func `A table of no wells or one does not stop it`(rows: Int) throws {
    let path = try folder.demo("wells", rows: rows)
    #expect(try write(path, times: 50, seed: 2).count == 50)
  }

  @Test func `A few percent of the changes are of banks, of which there stay about as many`() throws {
    let path = try folder.demo("wells", rows: 100)
    let changes = try write(path, times: 5_000, seed: 9)
    let ofBanks = changes.filter { if case .bank = $0 { true } else { false } }
    #expect((100...300).contains(ofBanks.count))
    let count: Int = try #require(try value(path, "SELECT count(*) FROM bank"))
    #expect(abs(count - DemoDatabase.banks) <= 15)
    let whole = "SELECT count(*) FROM bank JOIN closing ON closing.bank_id = bank.id"
    #expect(try value(path, whole) == count)
    #expect(try value(path, "SELECT count(DISTINCT cert) FROM bank") == count)
    #expect(try value(path, "SELECT count(*) FROM pragma_foreign_key_check") == 0)
  }

  @Test func `Without banks the first is made`() throws {
    let path = try folder.demo("wells", rows: 100)
    try DatabaseQueue(path: path).write { try $0.execute(sql: "DELETE FROM closing; DELETE FROM bank") }
    let changes = try write(path, times: 300, seed: 2)
    #expect(changes.contains(.bank(.insert)))
    #expect(try value(path, "SELECT min(cert) > 1000 FROM bank") == true)
  }

  @Test func `Ids and names of counties stay together`() throws {
    let path = try folder.demo("wells", rows: 300)
    _ = try write(path, times: 500, seed: 4)
    let strays = "SELECT count(*) FROM well JOIN county ON county.id = county_id WHERE county.name <> well.county"
    #expect(try value(path, strays) == 0)
  }

  @Test func `What wells are like stays as it was made, however long it writes`() throws {
    let path = try folder.demo("wells", rows: 400)
    let names = "SELECT group_concat(name, '|') FROM (SELECT name FROM well ORDER BY name)"
    let shape = """
      SELECT count(DISTINCT county) >= 70 AND avg(depth) BETWEEN 10500 AND 13600 AND max(depth) <= 23000
        AND sum(status = 'Producing') BETWEEN 140 AND 290
        AND sum((status = 'Permitted') <> (spud_date IS NULL)) = 0 FROM well
      """
    let before: String = try #require(try value(path, names))
    _ = try write(path, times: 20_000, seed: 12)
    #expect(try value(path, shape) == true)
    let after: String = try #require(try value(path, names))
    let known = Set(before.split(separator: "|"))
    let strange = after.split(separator: "|").filter { !known.contains($0) }
    #expect(strange.count <= 20)
    #expect(try value(path, "SELECT max(closed) >= '2023' FROM closing") == true)
  }

  @Test func `Of two writers of one file one writes, and the other when that has ended`() throws {
    let path = folder.path("wells")
    var first: WriterTurn? = WriterTurn(path: path)
    let second = WriterTurn(path: path)
    #expect(first?.isOurs == true)
    #expect(!second.isOurs)
    first = nil
    #expect(second.isOurs)
  }

  private func write(_ path: String, times: Int, seed: UInt64, target: Int? = nil) throws -> [DemoWriter.Change] {
    let connection = try Connection(path, .writing)
    var writer = try DemoWriter(connection, seed: seed, target: target)
    return try connection.transaction { try (0..<times).map { _ in try writer.write(connection) } }
  }

  private func version(_ queue: DatabaseQueue) throws -> Int? {
    try queue.read { try Int.fetchOne($0, sql: "PRAGMA data_version") }
  }
}
