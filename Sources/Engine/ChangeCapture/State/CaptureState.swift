import Ground

/// The memory of a capture at one state of the file, as a value that outlives the process.
///
/// A capture that is made with it (`ChangeCapture.init(_:_:restoring:)`) reports in its first tick exactly what changed
/// since then: from the frames of the WAL if the WAL still continues from that state, otherwise by comparing whole
/// tables with the state. So the state need not be recent; it only must be what a capture had remembered at some time.
///
/// **Making a state takes a tick almost no time.** A state references the pages that the capture remembers, which are
/// immutable; another thread encodes and writes it. A tick that changes a table before this is done copies the table's
/// list of pages (a millisecond for 1,000,000 rows).
///
/// **A state from the disk is not trusted.** The checksum detects damage. In addition, decoding checks every length,
/// number and tree, so a forged state can hide changes but not harm the process. To prevent forging, only the user may
/// access the file and its folder (`StateFile`).
///
/// A state takes about ten bytes a row, as the capture's memory does. It contains the keys of tables `WITHOUT ROWID`,
/// and the columns that queries need of former rows, as they are.
/// @unchecked: nodes and links do not change once they are in a summary, except for a node's parent, which a state does
/// not read.
package struct CaptureState: @unchecked Sendable {
  /// A followed table that was read whole.
  struct Table {
    var captured: CapturedTable
    /// The hasher of the table's rows.
    var hasher: PayloadHasher
    /// The layout, with the remembered fields.
    var layout: RecordLayout
    var keepsRows: Bool
    var root: UInt32
    var nodes: [UInt32: SummaryNode]
    var chains: [UInt32: OverflowChain]
  }

  /// The file's identity without its device number, because restarting the machine may change device numbers.
  struct FileMark: Equatable {
    var inode: UInt64
    var pageSize: UInt32
    var textEncoding: UInt32
  }

  let file: FileMark
  let state: FileState
  let schemaCookie: UInt32
  let tables: [Table]
  /// Data that the keeper stores with the state, such as numbers and positions. Capture does not interpret it.
  package var payload: [UInt8] = []

  /// The name of the state of the file.
  package var name: StateName { StateName(state: state) }
  /// The names of the tables in the state.
  package var tableNames: [String] { tables.map(\.captured.name) }
}

extension CaptureState {
  /// Whether the state belongs to the file at this path.
  package func isOf(path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && UInt64(status.st_ino) == file.inode
  }
}
