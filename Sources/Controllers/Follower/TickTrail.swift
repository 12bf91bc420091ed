import ChangeCapture

/// What the last ticks were, for whoever has to find out how a list went wrong. It holds numbers and names of tables, and no values.
struct TickTrail: CustomStringConvertible {
  private static let length = 16
  private var ticks: [String] = []

  mutating func note(_ tick: CapturedTick, _ state: StateName, commit: Int64, name: (Int) -> String) {
    if tick.isQuiet { return }
    let tables = tick.deltas.map { number, delta in
      "\(name(number)): \(delta.isUnknown ? "unknown" : "\(delta.rows.count) rows")"
    }
    let how = tick.comparison.map { "compared (\($0.rawValue))" } ?? "\(tick.commits) commits"
    if ticks.count == Self.length { ticks.removeFirst() }
    ticks.append(
      "\(commit) at \(state), \(how)\(tick.hasSchemaChanged ? ", schema" : ""): \(tables.joined(separator: ", "))")
  }

  /// The oldest first.
  var description: String { ticks.joined(separator: "; ") }
}
