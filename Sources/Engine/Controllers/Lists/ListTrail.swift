/// How a list was brought up to date lately, for finding out how it went wrong. It holds numbers, and no values.
///
/// It is noted at every tick that concerns the list, so an update takes 8 bytes: numbers are kept by their low bits, and completed
/// with the list's newest ones when they are described.
struct ListTrail {
  /// What was done to the result.
  enum Way: UInt8 {
    /// Units were looked up in a tick.
    case looked
    /// The query was run again.
    case ran
    /// It was run after the list had been found wrong: everybody got a snapshot.
    case mended
  }

  private static let length = 8
  private static let mostUnits = UInt16.max - 1
  private static let unknownUnits = UInt16.max

  private struct Update {
    let commit: UInt32
    /// That there was afterwards.
    let version: UInt8
    let way: Way
    /// How many were looked up, or had changed: at most `mostUnits`, or `unknownUnits`.
    let units: UInt16
  }

  /// Overwritten in turn. Most lists of a large pool never change: theirs takes no memory.
  private var updates: [Update] = []
  private var next = 0 as UInt8

  /// - Parameters:
  ///   - units: nil: what a run changed was not compared.
  ///   - commit: of the state that it shows then.
  ///   - version: the number of the newest version then.
  mutating func note(_ way: Way, units: Int?, commit: Int64, version: Int) {
    let update = Update(
      commit: UInt32(truncatingIfNeeded: commit), version: UInt8(truncatingIfNeeded: version), way: way,
      units: units.map { min(UInt16(clamping: $0), Self.mostUnits) } ?? Self.unknownUnits)
    if updates.count == Self.length {
      updates[Int(next)] = update
      next = (next + 1) % UInt8(Self.length)
      return
    }
    if updates.isEmpty { updates.reserveCapacity(Self.length) }
    updates.append(update)
  }

  /// The oldest first.
  ///
  /// - Parameters:
  ///   - commit: less than 2³¹ away from all that were noted. Those of another epoch may be higher.
  ///   - version: the newest: an update makes one at most.
  func description(commit: Int64, version: Int) -> String {
    if updates.isEmpty { return "none since it was opened" }
    return (updates[Int(next)...] + updates[..<Int(next)]).map { update in
      let commit = commit - Int64(Int32(bitPattern: UInt32(truncatingIfNeeded: commit) &- update.commit))
      let version = version - Int(UInt8(truncatingIfNeeded: version) &- update.version)
      let units = update.units == Self.mostUnits ? "\(update.units) or more" : "\(update.units)"
      let changed = update.units == Self.unknownUnits ? "" : ", \(units) units changed"
      let what =
        switch update.way {
        case .looked: "\(units) units looked up"
        case .ran: "run again\(changed)"
        case .mended: "mended\(changed)"
        }
      return "\(what): version \(version) at \(commit)"
    }.joined(separator: "; ")
  }
}
