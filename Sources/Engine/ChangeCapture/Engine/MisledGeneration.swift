/// A generation of the WAL whose count of copied frames is wrong, as SQLite's WAL-reset bug leaves it
/// (`docs/wal-reset.md`).
/// SQLite trusts that count: if it says that a page's newest frame is copied, SQLite reads the page from the database
/// file. So commits are undone for all readers without any frame. Lists must show what SQLite shows: each state of such
/// a generation, and the first of the next one, is compared as a whole. (A count that changes without a commit changes
/// nothing here: neither do SQLite's connections give up the pages that they keep before another commit.)
struct MisledGeneration {
  private var salts: UInt64?

  /// Whether a state that was not seen before must be compared.
  mutating func mustCompare(_ current: FileState, _ backfilled: UInt32) -> Bool {
    guard case .wal(let header, _) = current else { return false }
    // The index claims more copied frames than exist. (While the WAL starts over it has no frames yet, and the count is
    // still that of the former generation.)
    if header.frameCount > 0, backfilled > header.frameCount { note(header) }
    if salts == header.salts { return true }
    defer { salts = nil }
    return salts != nil
  }

  func isKnown(_ header: WALIndexHeader) -> Bool { salts == header.salts }

  mutating func note(_ header: WALIndexHeader) { salts = header.salts }
}
