import Ground

/// Memory that grows and is reused, for pages and for rows that are packed from them.
///
/// Owner: the thread that follows the file.
package final class ByteBuffer {
  @exclusivity(unchecked) private(set) var start: UnsafeMutableRawPointer
  @exclusivity(unchecked) private var capacity: Int
  @exclusivity(unchecked) private(set) var count = 0

  package init(capacity: Int = 4_096) {
    self.capacity = capacity
    start = .allocate(byteCount: capacity, alignment: 16)
  }

  deinit { start.deallocate() }

  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start, count: count) }

  func removeAll() { count = 0 }

  /// Frees memory above a limit, which was needed only for a burst.
  func trim(to limit: Int) {
    guard capacity > limit else { return }
    start.deallocate()
    capacity = limit
    count = 0
    start = .allocate(byteCount: limit, alignment: 16)
  }

  /// Extends the bytes in use by `extra` bytes.
  ///
  /// - Returns: the start of the added bytes.
  @discardableResult
  func grow(by extra: Int) -> UnsafeMutableRawPointer {
    reserve(extra)
    defer { count += extra }
    return start + count
  }

  func reserve(_ extra: Int) {
    if count + extra <= capacity { return }
    capacity = max(count + extra, capacity * 2)
    let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
    larger.copyMemory(from: start, byteCount: count)
    start.deallocate()
    start = larger
  }

  func resize(to count: Int) {
    if count > self.count { grow(by: count - self.count) } else { self.count = count }
  }

  @inline(__always)
  func append(_ source: UnsafeRawPointer, _ length: Int) {
    reserve(length)
    memcpy(start + count, source, length)
    count += length
  }

  @inline(__always)
  func append(_ hash: UInt64) {
    reserve(8)
    (start + count).storeBytes(of: hash, as: UInt64.self)
    count += 8
  }

  /// Appends a number in the form that `readPacked` reads.
  @inline(__always)
  func appendPacked(_ number: UInt64) {
    reserve(longestPacked)
    var end = start + count
    writePacked(number, to: &end)
    count = end - start
  }
}

/// The most bytes that a packed number takes.
let longestPacked = 10

/// Writes a number in the form that `readPacked` reads, to memory with space for the longest number.
@inline(__always)
func writePacked(_ number: UInt64, to end: inout UnsafeMutableRawPointer) {
  var rest = number
  while rest >= 0x80 {
    end.storeBytes(of: UInt8(truncatingIfNeeded: rest) | 0x80, as: UInt8.self)
    end += 1
    rest &>>= 7
  }
  end.storeBytes(of: UInt8(truncatingIfNeeded: rest), as: UInt8.self)
  end += 1
}
