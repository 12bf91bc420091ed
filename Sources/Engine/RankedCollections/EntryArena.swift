import Ground

/// Memory of a builder, in blocks that never move. So growing copies nothing, and a run of bytes keeps its address.
///
/// Owner: the thread of its builder, or the thread of that part of a builder's work that the arena was made for.
/// Mutable state: the blocks, and the space that is left in the newest one.
final class EntryArena {
  private var blocks: [UnsafeMutableRawPointer] = []
  /// The first unused byte of the newest block, which has `left` more.
  private var next: UnsafeMutableRawPointer
  private var left: Int
  private var size = 0

  private static let firstBlock = 16 << 10
  private static let largestBlock = 1 << 20

  init() {
    next = .allocate(byteCount: Self.firstBlock, alignment: 16)
    left = Self.firstBlock
    size = Self.firstBlock
    blocks.append(next)
  }

  deinit { for block in blocks { block.deallocate() } }

  /// Allocates bytes without alignment. They stay valid as long as the arena exists.
  func room(_ count: Int) -> UnsafeMutableRawPointer {
    if count > left { addBlock(atLeast: count) }
    defer {
      next += count
      left -= count
    }
    return next
  }

  func copy(_ bytes: Bytes) -> Bytes {
    let start = room(bytes.count)
    UnsafeMutableRawBufferPointer(start: start, count: bytes.count).copyMemory(from: bytes)
    return Bytes(start: start, count: bytes.count)
  }

  private func addBlock(atLeast count: Int) {
    // Each block is as large as all before it together, within bounds, so that small results use little memory.
    left = max(count, min(size, Self.largestBlock))
    next = .allocate(byteCount: left, alignment: 16)
    size += left
    blocks.append(next)
  }
}
