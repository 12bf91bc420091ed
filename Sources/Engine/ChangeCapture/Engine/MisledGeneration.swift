/// A generation of the WAL whose count of copied frames is wrong, as SQLite's WAL-reset bug leaves it
/// (`docs/wal-reset.md`). SQLite trusts that count: if the count says that a page's newest frame is copied, SQLite
/// reads the page from the database file. So commits are undone for all readers, and no frame shows it. Lists must show
/// what SQLite shows, so each state of such a generation, and the first state of the next one, is compared as a whole.
/// (If the count changes without a commit, nothing is compared: SQLite's connections keep their cached pages until the
/// next commit too.)
struct MisledGeneration {
  private var salts: UInt64?

  /// Whether a new state must be compared as a whole.
  mutating func mustCompare(_ current: FileState, _ backfilled: UInt32) -> Bool {
    guard case .wal(let header, _) = current else { return false }
    // The index claims more copied frames than exist. (A WAL that is just starting over has no frames, and still has
    // the count of the former generation.)
    if header.frameCount > 0, backfilled > header.frameCount { note(header) }
    if salts == header.salts { return true }
    defer { salts = nil }
    return salts != nil
  }

  func isKnown(_ header: WALIndexHeader) -> Bool { salts == header.salts }

  mutating func note(_ header: WALIndexHeader) { salts = header.salts }
}
