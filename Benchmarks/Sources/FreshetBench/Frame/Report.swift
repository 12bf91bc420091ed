import Foundation

/// The goal of a measured value.
enum Goal: Codable {
  case atMost(Double)
  case atLeast(Double)
  case exactly(Double)

  func isMet(by value: Double) -> Bool {
    switch self {
    case .atMost(let goal): value <= goal
    case .atLeast(let goal): value >= goal
    case .exactly(let goal): value == goal
    }
  }

  var text: String {
    switch self {
    case .atMost(let goal): "≤ \(goal.short)"
    case .atLeast(let goal): "≥ \(goal.short)"
    case .exactly(let goal): "= \(goal.short)"
    }
  }
}

/// One line of the outcome.
struct Finding: Codable {
  var benchmark: String
  var name: String
  var unit: String
  var rows: Int?
  var median: Double
  var quartiles: [Double]
  var rounds: Int
  /// The medians of both sides of a comparison, in `sidesUnit`.
  var subject: Double?
  var baseline: Double?
  var sidesUnit: String?
  var goal: String?
  var isMet: Bool?

  var place: String { rows.map { "\(name), \($0.grouped) rows" } ?? name }
}

/// Collects what benchmarks find, and prints it as it comes.
final class Report {
  private(set) var findings: [Finding] = []
  private(set) var failures: [String: String] = [:]
  private var benchmark = ""

  func begin(_ name: String) {
    benchmark = name
    say("\n\(name)")
  }

  /// A value for each round, such as a time or a share.
  func add(_ name: String, rows: Int? = nil, _ samples: Samples, _ unit: String, _ goal: Goal? = nil) {
    append(name, rows, samples, unit, goal, nil)
  }

  /// The subject's rounds against the baseline's.
  ///
  /// - Parameter unit: of both.
  func compare(
    _ name: String, rows: Int? = nil, _ subject: Samples, against baseline: Samples, _ unit: String, _ goal: Goal? = nil
  ) {
    append(name, rows, subject / baseline, "times", goal, (subject.median, baseline.median, unit))
  }

  private func append(
    _ name: String, _ rows: Int?, _ samples: Samples, _ unit: String, _ goal: Goal?,
    _ sides: (subject: Double, baseline: Double, unit: String)?
  ) {
    let (low, high) = samples.quartiles
    let isMet = goal?.isMet(by: samples.median)
    let finding =
      Finding(
        benchmark: benchmark, name: name, unit: unit, rows: rows, median: samples.median, quartiles: [low, high],
        rounds: samples.values.count, subject: sides?.subject, baseline: sides?.baseline, sidesUnit: sides?.unit,
        goal: goal?.text, isMet: isMet
      )
    findings.append(finding)
    let place = finding.place
    var line = "  " + place.padding(toLength: max(place.count, 58), withPad: " ", startingAt: 0)
    line += " \(samples.median.short) \(unit)"
    if samples.values.count > 1 { line += " (\(low.short)–\(high.short))" }
    if let sides { line += ", \(sides.subject.short) against \(sides.baseline.short) \(sides.unit)" }
    if let goal, let isMet { line += ", goal \(goal.text): \(isMet ? "met" : "MISSED")" }
    say(line)
  }

  func fail(_ error: any Error) {
    failures[benchmark] = "\(error)"
    say("  FAILED: \(error)")
  }

  /// Prints what missed and what failed, and writes all of it as JSON.
  func finish(_ path: String, machine: String) throws {
    let missed = findings.filter { $0.isMet == false }
    let judged = findings.count { $0.isMet != nil }
    say("\n\(judged - missed.count) of \(judged) goals met")
    for finding in missed { say("  MISSED \(finding.benchmark): \(finding.place)") }
    for (name, failure) in failures.sorted(by: { $0.key < $1.key }) { say("  FAILED \(name): \(failure)") }
    struct File: Encodable {
      var machine: String
      var date: Date
      var findings: [Finding]
      var failures: [String: String]
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    encoder.dateEncodingStrategy = .iso8601
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    try encoder.encode(File(machine: machine, date: Date(), findings: findings, failures: failures))
      .write(to: URL(fileURLWithPath: path))
  }
}

/// Prints a line at once, also into a pipe.
func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

extension Double {
  /// Three significant digits.
  var short: String {
    if !isFinite { return "–" }
    let magnitude = abs(self)
    if magnitude >= 100 { return Int(rounded()).grouped }
    return String(format: magnitude >= 10 ? "%.1f" : "%.2f", self)
  }
}

extension Int {
  /// With commas between thousands.
  var grouped: String {
    var digits = Array(String(magnitude))
    for place in stride(from: digits.count - 3, to: 0, by: -3) { digits.insert(",", at: place) }
    return (self < 0 ? "-" : "") + String(digits)
  }
}
