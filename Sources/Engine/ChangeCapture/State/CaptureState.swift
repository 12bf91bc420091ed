#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// What a capture remembers of a file's state, as a value that outlives the process.
///
/// A capture that is made with it (`ChangeCapture.init(_:_:restoring:)`) reports in its first tick exactly what changed since: by the
/// frames of the WAL where it still continues from that state, and otherwise by comparing whole tables with what is remembered of them.
/// So it never has to be right about when it was made; it only has to be what a capture had remembered.
///
/// **Making one costs a tick nothing.** It holds references to what the capture has, whose pages are immutable; it is encoded and written
/// on another thread. A tick that changes a table meanwhile copies the table's list of pages (a millisecond for 1,000,000 rows).
///
/// **What is read back is not believed.** The checksum recognises accidents. Beyond that every length, number and tree is checked when it
/// is decoded, so a forged state can hide changes but not harm the process. Against forging stands that the file and its folder belong to
/// the user alone (`StateFile`).
///
/// About ten bytes a row, which is what a capture has in memory. Keys of tables `WITHOUT ROWID` and the columns that queries need of former
/// rows are in it as they are.
// @unchecked: nodes and links do not change once they are in a summary, except for a node's parent, which is not read here.
package struct CaptureState: @unchecked Sendable {
  /// A followed table. All of it had been read.
  struct Table {
    var captured: CapturedTable
    /// With what is remembered.
    var layout: RecordLayout
    var keepsRows: Bool
    var root: UInt32
    var nodes: [UInt32: SummaryNode]
    var chains: [UInt32: OverflowChain]
  }

  /// The file's identity as far as it can be found again after a restart of the machine, which may change the numbers of devices.
  struct FileMark: Equatable {
    var inode: UInt64
    var pageSize: UInt32
    var textEncoding: UInt32
  }

  let file: FileMark
  let hasher: PayloadHasher
  let state: FileState
  let schemaCookie: UInt32
  let tables: [Table]
  /// What belongs to the state for whoever keeps it: numbers, positions. Opaque here.
  package var payload: [UInt8] = []

  /// The state that it is of.
  package var name: StateName { StateName(state: state) }
  /// The tables whose rows it has.
  package var tableNames: [String] { tables.map(\.captured.name) }
}

extension CaptureState {
  /// What a capture remembers now. Between ticks, on the capture's thread; O(tables).
  ///
  /// Tables that have not been read whole are left out.
  ///
  /// - Returns: nil where no state was seen, or one that another process would not recognise.
  package init?(of capture: ChangeCapture) {
    guard capture.canBeKept, let cookie = capture.schemaCookie, let mark = FileMark(capture) else { return nil }
    file = mark
    hasher = capture.packer.hasher
    state = capture.seen
    schemaCookie = cookie
    tables = capture.tables.values.sorted { $0.number < $1.number }.compactMap(Table.init)
  }

  package init?(of capture: ChangeCapture, payload: [UInt8]) {
    self.init(of: capture)
    self.payload = payload
  }
}

extension CaptureState {
  /// Whether it is of the file that has this name.
  package func isOf(path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && UInt64(status.st_ino) == file.inode
  }
}

extension CaptureState.Table {
  fileprivate init?(_ table: FollowedTable) {
    guard let captured = table.table, table.summary.isComplete, !table.isBroken, table.delta.isEmpty else { return nil }
    let summary = table.summary
    self.init(
      captured: captured, layout: summary.layout, keepsRows: summary.keepsRows, root: summary.root,
      nodes: summary.nodes, chains: summary.chains.all)
  }
}

extension CaptureState.FileMark {
  /// - Returns: nil where the file has no name any more, or its header cannot be read.
  init?(_ capture: ChangeCapture) {
    var status = stat()
    guard let path = capture.databasePath, stat(path, &status) == 0 else { return nil }
    inode = UInt64(status.st_ino)
    var header: (UInt32, UInt32)?
    withUnsafeTemporaryAllocation(byteCount: 100, alignment: 8) { buffer in
      guard let start = buffer.baseAddress, (try? capture.pages.database.read(into: start, 100, at: 0)) == true else {
        return
      }
      let first = UnsafeRawPointer(start)
      header = (UInt32(first.bigEndian16(16)), first.bigEndian32(56))
    }
    guard let header else { return nil }
    (pageSize, textEncoding) = header
  }
}
