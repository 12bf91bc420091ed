import ChangeCapture

/// What the last ticks were, for finding out how a list went wrong. It holds numbers, and no values.
struct TickTrail {
  private static let length = 16
  /// Overwritten in turn.
  private var ticks: [Tick] = []
  private var next = 0

  /// Of the size of a few words: it is noted at every tick, and described almost never.
  fileprivate struct Tick {
    let commit: Int64
    let state: StateName
    let commits: Int64
    let comparison: Doubt.Reason?
    let hasSchemaChanged: Bool
    /// How many tables changed, how many rows, and in how many tables the changed rows are not known.
    let tables: Int
    let rows: Int
    let unknown: Int
  }

  mutating func note(_ tick: CapturedTick, _ state: StateName, commit: Int64) {
    if tick.isQuiet { return }
    let (rows, unknown) = tick.deltas.reduce((0, 0)) {
      ($0.0 + $1.delta.rows.count, $0.1 + ($1.delta.isUnknown ? 1 : 0))
    }
    let noted = Tick(
      commit: commit, state: state, commits: tick.commits, comparison: tick.comparison,
      hasSchemaChanged: tick.hasSchemaChanged, tables: tick.deltas.count, rows: rows, unknown: unknown)
    if ticks.count < Self.length { ticks.append(noted) } else { ticks[next] = noted }
    next = (next + 1) % Self.length
  }
}

extension TickTrail: CustomStringConvertible {
  /// The oldest first.
  var description: String {
    let start = ticks.count < Self.length ? 0 : next
    return (Array(ticks[start...]) + Array(ticks[..<start])).map(\.description).joined(separator: "; ")
  }
}

extension TickTrail.Tick: CustomStringConvertible {
  var description: String {
    let how = comparison.map { "compared (\($0.rawValue))" } ?? "\(commits) commits"
    let what = "\(rows) rows of \(tables) tables\(unknown > 0 ? ", \(unknown) unknown" : "")"
    return "\(commit) at \(state), \(how)\(hasSchemaChanged ? ", schema" : ""): \(what)"
  }
}
