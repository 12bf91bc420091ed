/// The records of the rows that a tick has found changed, one after another.
///
/// They are copied because images of pages do not last as long as the tick, and because a record with overflow pages is
/// not contiguous.
///
/// Owner: the thread that follows the file.
package final class RecordArena {
  #if DEBUG
    /// The most bytes of records in a tick. Small in debug builds, so that tests exceed it.
    package static let mostBytes = 1 << 20
  #else
    /// The most bytes of records in a tick. If there are more, all changed rows of the tick are looked up.
    package static let mostBytes = 16 << 20
  #endif
  /// The capacity that is kept between ticks, in bytes.
  private static let keptBytes = 256 << 10

  private let bytes = ByteBuffer()
  private let limit: Int

  init(limit: Int = RecordArena.mostBytes) { self.limit = limit }

  /// The bytes of a record. It must belong to the present tick.
  package func record(_ range: Range<Int>) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: bytes.start + range.lowerBound, count: range.count)
  }

  /// The approximate memory, in bytes.
  var byteCount: Int { bytes.count + 4_096 }

  /// Removes all records, when a new tick begins.
  func removeAll() {
    bytes.trim(to: Self.keptBytes)
    bytes.removeAll()
  }

  private func hasRoom(for cell: BTreePage.Cell) -> Bool { cell.total <= limit - bytes.count }

  /// Copies the record of a cell.
  ///
  /// - Returns: where the record is; empty if it is too large or its overflow pages cannot be read.
  func keep<Source: PageSource>(_ cell: BTreePage.Cell, _ source: Source, _ buffer: ByteBuffer) -> Range<Int> {
    let start = bytes.count
    if !hasRoom(for: cell) { return 0..<0 }
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

  /// Copies a former record. Its overflow pages may have been overwritten since; the remembered hash of the chain
  /// proves that they were not.
  ///
  /// - Returns: as `keep`.
  func keepFormer<Source: PageSource>(
    _ cell: BTreePage.Cell, _ chain: OverflowChain, _ hasher: PayloadHasher, _ source: Source, _ buffer: ByteBuffer
  ) -> Range<Int> {
    let start = bytes.count
    if !hasRoom(for: cell) { return 0..<0 }
    bytes.append(cell.payload, cell.local)
    var left = cell.total - cell.local
    var hash = UInt64(cell.total)
    for page in chain.pages {
      guard left > 0, let image = source.formerPage(page, buffer) else { break }
      let count = min(left, source.usableSize - 4)
      hash = hasher.hash(image + 4, count, start: hash)
      bytes.append(image + 4, count)
      left -= count
    }
    if left == 0, hash == chain.hash { return start..<bytes.count }
    bytes.resize(to: start)
    return 0..<0
  }
}
