import Foundation
import Freshet
import Testing

@MainActor struct SectionNameTests {
  @Test func `A section's name is a string, whatever its value is`() async throws {
    let banks = try Banks(
      """
      CREATE TABLE t(id INTEGER PRIMARY KEY, section);
      INSERT INTO t(section) VALUES (NULL), (-7), (9007199254740993), (1.5), ('Kansas'), (x'00FFa1');
      """)
    let database = try LiveDatabase(path: banks.path)
    let list = database.results(Query(from: "t", sectionBy: "section"))
    try await list.performFetch()
    #expect(list.sections.map(\.name) == ["", "-7", "1.5", "9007199254740993", "Kansas", "00FFA1"])
    #expect(
      list.sections.map(\.value) == [nil, -7, 1.5, 9_007_199_254_740_993, "Kansas", .blob([0x00, 0xFF, 0xA1])])
  }

  @Test func `A list without sections is one section without a name`() async throws {
    let banks = try Banks()
    let list = try LiveDatabase(path: banks.path).results(Query(from: "bank"))
    try await list.performFetch()
    #expect(list.sections.map(\.name) == [""] && list.sections.map(\.value) == [""])
  }
}
