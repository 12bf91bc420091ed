import Ground

/// Where a builder keeps its bytes: blocks that never move, so that growing copies nothing and a run of bytes is known
/// by its address.
///
/// Owner: the thread of its builder, or of the part of a builder's work that it was made for. Mutable state: the
/// blocks, and the room that is left in the newest one.
final class EntryArena {
  private var blocks: [UnsafeMutableRawPointer] = []
  /// The rest of the newest block.
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

  /// Room for bytes, at any address, for as long as the arena is there.
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
    // As large as all before it, within bounds: small results stay small.
    left = max(count, min(size, Self.largestBlock))
    next = .allocate(byteCount: left, alignment: 16)
    size += left
    blocks.append(next)
  }
}
