/// The present records of the rows that a tick has found changed, one behind the other.
///
/// They are copied because images of pages do not last as long as the tick, and because a record with overflow pages is in no one
/// piece.
///
/// Owner: the thread that follows the file.
package final class RecordArena {
  #if DEBUG
    /// Few in debug builds, so that tests have more.
    private static let mostBytes = 1 << 20
  #else
    /// A tick with more looks all of its rows up.
    private static let mostBytes = 16 << 20
  #endif
  /// What is kept room for between ticks.
  private static let keptBytes = 256 << 10

  private let bytes = ByteBuffer()

  /// A record. It must be one of the present tick.
  package func record(_ range: Range<Int>) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: bytes.start + range.lowerBound, count: range.count)
  }

  /// Another tick begins.
  func removeAll() {
    bytes.trim(to: Self.keptBytes)
    bytes.removeAll()
  }

  /// Copies the record of a cell.
  ///
  /// - Returns: where it is; empty where it is too large, or its overflow pages cannot be read.
  func keep<Source: PageSource>(_ cell: BTreePage.Cell, _ source: Source, _ buffer: ByteBuffer) -> Range<Int> {
    let start = bytes.count
    if cell.total > Self.mostBytes - start { return 0..<0 }
    bytes.append(cell.payload, cell.local)
    if cell.overflow != 0, !keepOverflow(of: cell, source, buffer) {
      bytes.resize(to: start)
      return 0..<0
    }
    return start..<bytes.count
  }

  private func keepOverflow<Source: PageSource>(
    of cell: BTreePage.Cell, _ source: Source, _ buffer: ByteBuffer
  ) -> Bool {
    var left = cell.total - cell.local
    var page = cell.overflow
    var cycle = CycleDetector()
    while left > 0 {
      guard page != 0, !cycle.visit(page), let start = try? source.page(page, buffer) else { return false }
      let count = min(left, source.usableSize - 4)
      bytes.append(start + 4, count)
      left -= count
      page = start.bigEndian32(0)
    }
    return true
  }
}
