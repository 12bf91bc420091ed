@testable import ChangeCapture

/// A state that an attacker forged, behind the checksum that keeps accidents out: a decoded state can be walked and
/// compared.
enum StateTarget {
  static func run(_ input: UnsafeRawBufferPointer) -> Bool {
    guard input.count < 64 << 10, let state = decoded(Array(input)) else { return false }
    let again = decoded(Array(state.encoded().dropFirst(CaptureState.Prefix.size)))
    check(again?.encoded() == state.encoded(), "a state that is not what was encoded")
    let pages = MemoryPages(usableSize: MemoryPages.size)
    for table in state.tables {
      let summary = TableSummary(
        root: table.root, table.layout, keepsRows: table.keepsRows, RowPacker(hasher: table.hasher))
      summary.take(table.nodes, table.chains)
      let rows = summary.rowCount
      // The table is gone: all of its rows are, each once.
      let delta = ChangedRows()
      do throws(Doubt) { try summary.compare(root: nil, pages, into: delta) } catch { continue }
      if table.keepsRows { check(delta.rows.count == rows, "\(rows) rows, and \(delta.rows.count) that went") }
      for row in delta.rows {
        delta.withFields(row.key) { for value in $0 { touch(value) } }
        delta.withFields(row.old) { for value in $0 { touch(value) } }
      }
    }
    return true
  }

  /// With the prefix that makes it one.
  private static func decoded(_ body: [UInt8]) -> CaptureState? {
    var bytes = [UInt8](repeating: 0, count: CaptureState.Prefix.size)
    bytes.withUnsafeMutableBytes { prefix in
      prefix.storeBytes(of: CaptureState.Prefix.magic, as: UInt64.self)
      prefix.storeBytes(
        of: CaptureState.Prefix.version, toByteOffset: CaptureState.Prefix.versionOffset, as: UInt32.self)
      let checksum = body.withUnsafeBytes { body in
        body.baseAddress.map { CaptureState.checksum($0, body.count) } ?? 0
      }
      prefix.storeBytes(of: checksum, toByteOffset: CaptureState.Prefix.checksumOffset, as: UInt64.self)
    }
    return CaptureState(decoding: bytes + body)
  }

  private static func touch(_ value: StoredValue) {
    switch value {
    case .text(let bytes), .blob(let bytes): _ = bytes.max()
    case .null, .integer, .real, .missing: break
    }
  }
}
