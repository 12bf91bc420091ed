import Ground

/// The memory of a capture at one state of the file, as a value that outlives the process.
///
/// A capture that is made with it (`ChangeCapture.init(_:_:restoring:)`) reports in its first tick exactly what changed
/// since: by the frames of the WAL where it still continues from that state, and otherwise by comparing whole tables
/// with what is remembered of them. So it never has to be right about when it was made; it only has to be what a
/// capture had remembered.
///
/// **Making one costs a tick nothing.** It holds references to what the capture has, whose pages are immutable; it is
/// encoded and written on another thread. A tick that changes a table meanwhile copies the table's list of pages (a
/// millisecond for 1,000,000 rows).
///
/// **What is read back is not believed.** The checksum recognises accidents. Beyond that every length, number and tree
/// is checked when it is decoded, so a forged state can hide changes but not harm the process. Against forging stands
/// that the file and its folder belong to the user alone (`StateFile`).
///
/// About ten bytes a row, which is what a capture has in memory. Keys of tables `WITHOUT ROWID` and the columns that
/// queries need of former rows are in it as they are.
// @unchecked: nodes and links do not change once they are in a summary, except for a node's parent, which is not read
// here.
package struct CaptureState: @unchecked Sendable {
  /// A followed table. All of it had been read.
  struct Table {
    var captured: CapturedTable
    /// Hashes its rows.
    var hasher: PayloadHasher
    /// The layout, with the remembered fields.
    var layout: RecordLayout
    var keepsRows: Bool
    var root: UInt32
    var nodes: [UInt32: SummaryNode]
    var chains: [UInt32: OverflowChain]
  }

  /// The file's identity as far as it can be found again after a restart of the machine, which may change the numbers
  /// of devices.
  struct FileMark: Equatable {
    var inode: UInt64
    var pageSize: UInt32
    var textEncoding: UInt32
  }

  let file: FileMark
  let state: FileState
  let schemaCookie: UInt32
  let tables: [Table]
  /// Data of the keeper that belongs to the state: numbers, positions. Opaque here.
  package var payload: [UInt8] = []

  /// The state that it is of.
  package var name: StateName { StateName(state: state) }
  /// The tables whose rows it has.
  package var tableNames: [String] { tables.map(\.captured.name) }
}

extension CaptureState {
  /// Whether it is of the file that has this name.
  package func isOf(path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && UInt64(status.st_ino) == file.inode
  }
}
