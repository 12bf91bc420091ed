/// A record of a list's recent updates, to find out why it was wrong. It has numbers, and no values of the database.
///
/// Every tick that concerns the list adds an update of 8 bytes: numbers keep only their low bits, and the list's newest
/// numbers supply the rest for the description.
struct ListTrail {
  /// How the result was updated.
  enum Way: UInt8 {
    /// A tick looked units up.
    case looked
    /// The query was run again.
    case ran
    /// The query was run after the list had been found wrong, and all subscribers got a snapshot.
    case mended
  }

  private static let length = 8
  private static let mostUnits = UInt16.max - 1
  private static let unknownUnits = UInt16.max

  private struct Update {
    let commit: UInt32
    /// The version that the update led to.
    let version: UInt8
    let way: Way
    /// The number of units that were looked up or had changed, up to `mostUnits`; `unknownUnits` if it is unknown.
    let units: UInt16
  }

  /// A ring buffer. It is allocated with the first update, because most lists of a large pool never change.
  private var updates: [Update] = []
  private var next = 0 as UInt8

  /// - Parameters:
  ///   - units: the number of changed units; nil if the run's changes were not counted.
  ///   - commit: the commit that the list shows afterwards.
  ///   - version: the number of the newest version afterwards.
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

  /// Describes the updates, the oldest first.
  ///
  /// - Parameters:
  ///   - commit: a commit less than 2³¹ away from all noted ones. Commits of another epoch may be higher.
  ///   - version: the newest version's number: an update makes at most one version.
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
