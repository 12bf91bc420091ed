// Writes to the file that SQLite did not make; see `FileContents`.
extension ChangeCapture {
  /// Checks whether anything but SQLite wrote to the file. To be called outside of transactions.
  package func lookAtContents() -> FileContents.Verdict { contents.look(index) }

  /// Another connection of the process has found that the file was overwritten.
  package func noteOverwritten(_ staleGeneration: UInt64?) { contents.noteOverwritten(staleGeneration) }

  /// Whether anything but SQLite may be writing to the file right now.
  package var isDoubtful: Bool { contents.isDoubtful }

  /// The system has reported a write to the database file since the last `lookAtContents`.
  package func noteReportedWrite() { contents.isReported = true }

  /// See `FileContents`.
  package var staleGeneration: UInt64? { contents.staleGeneration }
}
