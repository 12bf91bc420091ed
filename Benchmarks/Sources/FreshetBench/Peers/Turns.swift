import Foundation

/// `freshet-turns` on a file: the engine without threads or sockets. Or `bare-lookup`, its baseline in C, which takes
/// the same command for one-row changes.
final class Turns {
  private let child: Child

  init(_ path: String, program: String = Programs.built("freshet-turns")) throws {
    child = try Child(program, [path])
    let greeting = try child.hear()
    if !greeting.hasPrefix("ready") { throw Failure("\(program) says \(greeting)") }
  }

  /// Takes in what others have committed, so that it is not the next change's.
  func follow() throws { _ = try answer(to: "follow") }

  /// - Returns: the median time of so many changes of a kind, in microseconds.
  func change(_ kind: String, _ count: Int) throws -> Double {
    var latencies = Latencies()
    for line in try answer(to: "change \(kind) \(count)") { latencies.record(Int(line) ?? 0) }
    return latencies.percentile(50)
  }

  /// Commits of 1,000 changes: nanoseconds, operations sent, and the fewest that there can be.
  func thousand(_ count: Int) throws -> [(nanoseconds: Double, sent: Double, fewest: Double)] {
    try answer(to: "thousand \(count)").map { line in
      let numbers = line.split(separator: " ").compactMap { Double($0) }
      if numbers.count != 3 { throw Failure("freshet-turns says \(line)") }
      return (numbers[0], numbers[1], numbers[2])
    }
  }

  private func answer(to command: String) throws -> [String] {
    try child.tell(command)
    var lines: [String] = []
    while true {
      let line = try child.hear()
      if line == "done" { return lines }
      lines.append(line)
    }
  }
}
