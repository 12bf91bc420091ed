import ChangeCapture

/// A record of the last ticks, to find out why a list was wrong. It has numbers, and no values of the database.
struct TickTrail {
  private static let length = 16
  /// The most tables that are recorded for a tick. The other changed tables are only counted.
  private static let mostTables = 8
  /// A ring buffer.
  private var ticks: [Tick] = []
  private var next = 0
  /// The changed tables of each entry of `ticks`, `mostTables` for each. Allocated once, so that recording a tick
  /// allocates nothing.
  private var tables = Array(
    repeating: ChangedTable(number: 0, rows: 0), count: Self.length * Self.mostTables)

  /// A tick in a few words of memory, because every tick is recorded and almost none is ever described.
  fileprivate struct Tick {
    let commit: Int64
    let state: StateName
    let commits: Int64
    let comparison: Doubt.Reason?
    let hasSchemaChanged: Bool
    /// The number of changed tables. A tick that passed through other states may count a table several times.
    let tables: Int
  }

  fileprivate struct ChangedTable {
    /// Capture's number of the table.
    var number: Int32
    /// The number of changed rows; -1 if unknown.
    var rows: Int32
  }

  mutating func note(_ tick: CapturedTick, _ state: StateName, commit: Int64) {
    if tick.isQuiet { return }
    let noted = Tick(
      commit: commit, state: state, commits: tick.commits, comparison: tick.comparison,
      hasSchemaChanged: tick.hasSchemaChanged, tables: tick.deltas.count)
    if ticks.count < Self.length { ticks.append(noted) } else { ticks[next] = noted }
    var place = next * Self.mostTables
    for (number, delta) in tick.deltas.prefix(Self.mostTables) {
      let rows = delta.isUnknown ? -1 : Int32(clamping: delta.rows.count)
      tables[place] = ChangedTable(number: Int32(truncatingIfNeeded: number), rows: rows)
      place += 1
    }
    next = (next + 1) % Self.length
  }

  /// Describes the ticks, the oldest first.
  ///
  /// - Parameter name: returns the name of the table with a number, if known.
  func description(_ name: (Int) -> String?) -> String {
    let start = ticks.count < Self.length ? 0 : next
    return ticks.indices.map { describe((start + $0) % ticks.count, name) }.joined(separator: "; ")
  }

  private func describe(_ place: Int, _ name: (Int) -> String?) -> String {
    let tick = ticks[place]
    let how = tick.comparison.map { "compared (\($0.rawValue))" } ?? "\(tick.commits) commits"
    var what = tables[(place * Self.mostTables)...].prefix(min(tick.tables, Self.mostTables)).map { table in
      "\(table.rows < 0 ? "unknown" : "\(table.rows)") of \(name(Int(table.number)) ?? "table \(table.number)")"
    }
    if tick.tables > Self.mostTables { what.append("\(tick.tables - Self.mostTables) more tables") }
    let rows = what.isEmpty ? "no rows" : what.joined(separator: ", ")
    return "\(tick.commit) at \(tick.state), \(how)\(tick.hasSchemaChanged ? ", schema" : ""): \(rows)"
  }
}
