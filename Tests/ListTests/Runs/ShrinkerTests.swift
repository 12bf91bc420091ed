import Foundation
import ServerSupport
import Synchronization
import TestSupport
import Testing

@Suite struct ShrinkerTests {
  private let shrinker = Shrinker { false }

  @Test(arguments: [[3], [0, 99], [1, 2, 50], [7, 8, 9, 10], Array(0..<100)])
  func `What is left is what fails, and nothing else`(culprits: [Int]) {
    var attempts = 0
    let least = shrinker.shrink(Array(0..<100)) { some in
      attempts += 1
      return culprits.allSatisfy(some.contains)
    }
    #expect(least == culprits)
    #expect(attempts < 100 * 12)
  }

  @Test func `An element that another one needs goes with it`() {
    // 3 fails by itself; 7 only fails together with 3.
    let least = shrinker.shrink(Array(0..<20)) { some in some.contains(3) && (!some.contains(12) || some.contains(7)) }
    #expect(least == [3])
  }

  @Test func `When time is over, what is left still fails`() {
    let attempts = Atomic(0)
    let shrinker = Shrinker { attempts.load(ordering: .relaxed) >= 4 }
    let least = shrinker.shrink(Array(0..<100)) { some in
      attempts.add(1, ordering: .relaxed)
      return some.contains(42)
    }
    #expect(least.contains(42) && least.count < 100 && attempts.load(ordering: .relaxed) == 4)
  }

  @Test func `A value is simplified until no simpler form fails`() {
    let least = shrinker.simplify("select distinct a order by b") { text in
      let words = text.split(separator: " ")
      return words.indices.map { (words[..<$0] + words[($0 + 1)...]).joined(separator: " ") }
    } fails: {
      $0.contains("select") && $0.contains("b")
    }
    #expect(least == "select b")
  }

  @Test func `Steps lose statements, and statements rows`() throws {
    let steps: [RunStep] = [
      .commit(
        "BEGIN;\nDELETE FROM t;\nINSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c');\nUPDATE t SET a = 1;\nCOMMIT;"),
      .tick, .commit("BEGIN;\nDELETE FROM u;\nDELETE FROM v;\nDELETE FROM w;\nCOMMIT;"), .readers, .compare,
    ]
    let least = try shrinker.shrinkSteps(steps) { steps in
      let text = steps.map(\.description).joined(separator: "\n")
      return text.contains("(2, 'b')") && text.contains("DELETE FROM u") && text.contains("DELETE FROM w")
        && steps.contains(.compare)
    }
    #expect(
      least == [
        .commit("INSERT INTO t VALUES (2, 'b');"), .commit("BEGIN;\nDELETE FROM u;\nDELETE FROM w;\nCOMMIT;"), .compare,
      ])
  }

  @Test func `A kept run is read back as it was`() throws {
    var query = OracleQueries.everything
    query.section = ("a", true)
    let run = ListRun(
      .sockets, setUp: "CREATE TABLE t(a);", preparation: "PRAGMA x;", captureBytes: 0, expectsSilence: true, [query],
      steps: [.commit("INSERT INTO t VALUES ('\n');"), .tick, .step, .readers, .open(3), .compare])
    let folder = try TemporaryFolder()
    let file = URL(filePath: folder.path("run.json"))
    try run.write(to: file)
    let read = try JSONDecoder().decode(ListRun.self, from: Data(contentsOf: file))
    #expect(read.story == run.story && read.steps == run.steps && read.expectsSilence)
    #expect(read.lists.map(\.query.json) == run.lists.map(\.query.json))
  }
}

private enum OracleQueries {
  static let everything = OracleQuery(
    table: "t", keys: ["a"], select: ["b", "c"], filter: "a > 1", orderBy: ["b DESC"], limit: 3, window: (1, 2),
    groupBy: ["a"], having: "count(*) > 1", tellsKey: true, alongside: ["n": "SELECT 1"], parameters: ["p": 2])
}
