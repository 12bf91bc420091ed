import Foundation

/// This program as another process: what must not share memory or a thread with the benchmarks.
enum Helpers {
  /// - Returns: the exit status; nil when the arguments name no helper.
  static func run(_ arguments: [String]) -> Int32? {
    switch arguments.first {
    case "hold" where arguments.count == 2: hold(arguments[1])
    case "write" where arguments.count == 3:
      writeRounds(arguments[1], RawDatabase.Durability(rawValue: arguments[2]) ?? .normal)
    case "commit" where arguments.count == 3:
      ThroughputBenchmark.write(arguments[1], ThroughputProfile(rawValue: arguments[2]) ?? .feed)
    case "pace" where arguments.count == 2: PacedBenchmark.write(arguments[1])
    case "scatter" where arguments.count == 2: ChangesBenchmark.write(arguments[1])
    case "flood" where arguments.count == 4: flood(arguments[1], Int(arguments[2]) ?? 0, Int(arguments[3]) ?? 0)
    default: return nil
    }
    return 0
  }

  /// The rows of the list as an array of structs; prints what they take.
  private static func hold(_ path: String) {
    struct Well {
      var id: Int
      var county, name, `operator`, status: String
      var depth: Double
    }
    let statement = RawDatabase(path).prepare(
      "SELECT id, county, name, operator, status, depth FROM well \(Wells.order)")
    var wells: [Well] = []
    let before = Self.memory
    statement.forEach { row in
      wells.append(
        Well(
          id: row.int(0), county: row.text(1), name: row.text(2), operator: row.text(3), status: row.text(4),
          depth: row.real(5)))
    }
    say("\(withExtendedLifetime(wells) { Self.memory - before })")
  }

  private static var memory: Int {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    return (status.firstMatch(of: /VmRSS:\s+(\d+)/).flatMap { Int($0.1) } ?? 0) * 1_024
  }

  /// One-row commits as fast as they go; for every line of milliseconds prints how many there were a second.
  private static func writeRounds(_ path: String, _ durability: RawDatabase.Durability) {
    let database = RawDatabase(path, durability)
    let update = database.prepare("UPDATE well SET depth = depth + 1 WHERE id = ?1")
    var id = 0
    say("ready")
    while let line = readLine(), let milliseconds = Int(line) {
      let start = now()
      var commits = 0
      while now() - start < milliseconds * 1_000_000 {
        id = (id + 7_919) % 10_000
        update.bind(1, id + 1)
        update.run()
        commits += 1
      }
      say("\(Double(commits) * 1e9 / Double(now() - start))")
    }
  }

  /// So many changes a second for some seconds, 50 in a commit; each row gets the time at which it was written. Prints
  /// how many there were.
  private static func flood(_ path: String, _ rate: Int, _ seconds: Int) {
    let database = RawDatabase(path)
    let update = database.prepare("UPDATE event SET at = ?2 WHERE id = ?1")
    let start = now()
    var changes = 0
    while now() - start < seconds * 1_000_000_000 {
      sleep(until: start + changes * (1_000_000_000 / rate))
      database.execute("BEGIN IMMEDIATE")
      for _ in 0..<50 {
        update.bind(1, changes * 7_919 % OverloadBenchmark.rows + 1)
        update.bind(2, now())
        update.run()
        changes += 1
      }
      database.execute("COMMIT")
    }
    say("\(changes)")
  }
}
