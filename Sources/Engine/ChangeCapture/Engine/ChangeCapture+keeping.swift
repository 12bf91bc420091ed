import CSQLite
import Ground

// State that is kept for the next process.
extension CaptureState {
  /// The current memory of a capture. To be called between ticks, on the capture's thread. O(tables).
  ///
  /// Tables that have not been read whole are left out.
  ///
  /// - Returns: nil if no state was seen, if another process could not recognize the state, or if another capture has
  ///   advanced.
  package init?(of capture: ChangeCapture) {
    guard let mark = FileMark(capture.connection, capture.database), let kept = capture.kept() else { return nil }
    file = mark
    state = capture.seen
    schemaCookie = kept.schemaCookie
    tables = kept.tables
  }

  package init?(of capture: ChangeCapture, payload: [UInt8]) {
    self.init(of: capture)
    self.payload = payload
  }
}

extension CaptureState.Table {
  /// To be called with the lock of the memory held.
  init?(_ table: FollowedTable) {
    guard let captured = table.table, table.summary.isComplete, !table.isBroken, table.delta.isEmpty else { return nil }
    let summary = table.summary
    self.init(
      captured: captured, hasher: table.hasher, layout: summary.layout, keepsRows: summary.keepsRows,
      root: summary.root,
      nodes: summary.nodes, chains: summary.chains.all)
  }
}

extension CaptureState.FileMark {
  /// - Returns: nil if the file has no name any more, or its header cannot be read.
  init?(_ connection: OpaquePointer, _ database: DatabaseFile) {
    var status = stat()
    guard let path = sqlite3_db_filename(connection, "main"), stat(path, &status) == 0 else { return nil }
    inode = UInt64(status.st_ino)
    var header: (UInt32, UInt32)?
    withUnsafeTemporaryAllocation(byteCount: 100, alignment: 8) { buffer in
      guard let start = buffer.baseAddress, (try? database.read(into: start, 100, at: 0)) == true else { return }
      let first = UnsafeRawPointer(start)
      header = (UInt32(first.bigEndian16(16)), first.bigEndian32(56))
    }
    guard let header else { return nil }
    (pageSize, textEncoding) = header
  }
}
