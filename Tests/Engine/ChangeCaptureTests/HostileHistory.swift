import Foundation

/// The events of one run of the hostile writers, as JSON lines: `scripts/history.py` has the vocabulary, and
/// `scripts/check-history.py` checks it.
///
/// Each seed has a file of its own, in the folder that `FRESHET_HISTORY` names.
final class HostileHistory {
  static let folder = ProcessInfo.processInfo.environment["FRESHET_HISTORY"]

  private let seed: UInt64
  /// Whether writers put a number into the table `written` in each transaction. They do not spill pages then (`main.c`
  /// says why), so half of the runs go without.
  var hasLedger: Bool { seed % 2 == 0 }
  private let file: FileHandle
  private let start = Date()

  /// - Returns: nil if no history is requested.
  init?(_ run: HostileTests.Run) throws {
    guard let folder = Self.folder else { return nil }
    seed = run.seed
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let url = URL(fileURLWithPath: folder).appending(path: "\(run.way)-\(run.seed).jsonl")
    try Data().write(to: url)
    file = try FileHandle(forWritingTo: url)
    add("run", "begin", ["arguments": ["way": run.way.rawValue]])
  }

  func add(_ actor: String, _ operation: String, outcome: String = "ok", _ details: [String: Any] = [:]) {
    var event = details
    event["time"] = (Date().timeIntervalSince(start) * 10_000).rounded() / 10_000
    event["seed"] = seed
    event["actor"] = actor
    event["operation"] = operation
    event["outcome"] = outcome
    // An incomplete history must not be taken for a complete one.
    do {
      try file.write(contentsOf: JSONSerialization.data(withJSONObject: event, options: .sortedKeys) + [0x0A])
    } catch { fatalError("the history cannot be written: \(error)") }
  }
}
