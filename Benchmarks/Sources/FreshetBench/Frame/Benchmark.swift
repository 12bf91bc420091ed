/// One claim about performance, measured next to its baseline.
protocol Benchmark {
  /// Its name in `ONLY`.
  static var name: String { get }
  /// Longer than it takes, in seconds: a benchmark that hangs is ended then, loudly.
  static var deadline: Int { get }

  /// Measures, subject and baseline in turns, and reports.
  ///
  /// - Throws: `Failure` when it cannot do its work.
  static func run(_ settings: Settings, _ report: Report) throws
}

extension Benchmark {
  static var deadline: Int { 900 }
}

/// Why nothing can be measured.
struct Failure: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

/// How much is measured: everything, or what fits into two minutes.
struct Settings {
  let isQuick: Bool
  /// Names of the benchmarks to run; empty: all.
  let only: Set<String>
  var sizes: [Int] { isQuick ? [1_000, 100_000] : [1_000, 10_000, 100_000, 244_292, 1_000_000] }
  /// Where one size is enough.
  var usualSize: Int { isQuick ? 100_000 : 244_292 }
  var rounds: Int { isQuick ? 3 : 5 }

  init(environment: [String: String]) {
    isQuick = environment["QUICK"] == "1"
    let names = (environment["ONLY"] ?? "").split { $0 == "," || $0 == " " }
    // One measurement makes both.
    only = Set(names.map { $0 == "growth" ? "change" : String($0) })
  }

  func choose<Value>(full: Value, quick: Value) -> Value { isQuick ? quick : full }

  /// Runs `body` once for every round and each of its sides, in turns.
  func inTurns(_ sides: [(inout Samples) throws -> Void]) throws -> [Samples] {
    var samples = sides.map { _ in Samples() }
    for _ in 0..<rounds {
      for side in sides.indices { try sides[side](&samples[side]) }
    }
    return samples
  }
}
