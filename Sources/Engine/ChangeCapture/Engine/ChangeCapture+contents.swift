// Changes of the file by other means than SQLite; see `FileContents`.
extension ChangeCapture {
  /// Looks whether anything but SQLite wrote to the file. Outside of transactions.
  package func lookAtContents() -> FileContents.Verdict { contents.look(index) }

  /// Another connection of the process has found that the file was overwritten.
  package func noteOverwritten(_ staleGeneration: UInt64?) { contents.noteOverwritten(staleGeneration) }

  /// Whether the file may just be written over by anything but SQLite.
  package var isDoubtful: Bool { contents.isDoubtful }

  /// The system has reported a write to the database file since the last look.
  package func noteReportedWrite() { contents.isReported = true }

  /// See `FileContents`.
  package var staleGeneration: UInt64? { contents.staleGeneration }
}
