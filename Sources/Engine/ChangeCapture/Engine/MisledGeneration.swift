/// A generation of the WAL whose count of copied frames is wrong, as SQLite's WAL-reset bug leaves it
/// (`docs/wal-reset.md`).
///
/// SQLite believes that count: of pages whose newest frame is said to be copied it reads what the database file has. So
/// commits are undone for all who read, and no frame says so. What SQLite shows is what lists show: each state of such
/// a generation, and the first of the next one, is compared as a whole. (A count that changes without a commit changes
/// nothing here: neither do SQLite's connections give up the pages that they keep before another commit.)
struct MisledGeneration {
  private var salts: UInt64?

  /// Whether a state that was not seen before must be compared.
  mutating func mustCompare(_ current: FileState, _ backfilled: UInt32) -> Bool {
    guard case .wal(let header, _) = current else { return false }
    // More frames than there are. (While the WAL starts over there are none, and the count is still that of the
    // generation before.)
    if header.frameCount > 0, backfilled > header.frameCount { note(header) }
    if salts == header.salts { return true }
    defer { salts = nil }
    return salts != nil
  }

  func isKnown(_ header: WALIndexHeader) -> Bool { salts == header.salts }

  mutating func note(_ header: WALIndexHeader) { salts = header.salts }
}
