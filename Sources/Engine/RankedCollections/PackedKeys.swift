import Ground

/// An array of byte strings laid end to end in one buffer. Nodes keep their keys in it.
///
/// A key takes its own bytes and four more. Reading key `i` is O(1); inserting and removing are O(bytes in the node).
struct PackedKeys {
  private(set) var bytes: [UInt8] = []
  /// Where each key ends in `bytes`. It starts at the end of the previous one.
  private(set) var ends: [UInt32] = []

  init() {}

  init(reserving count: Int, bytes byteCount: Int) {
    ends.reserveCapacity(count)
    bytes.reserveCapacity(byteCount)
  }

  /// Copies the keys at `indices` into buffers that are exactly large enough.
  init(_ indices: Range<Int>, key: (Int) -> Bytes) {
    var total = 0
    ends = Array(unsafeUninitializedCapacity: indices.count) { buffer, count in
      for index in indices {
        total += key(index).count
        buffer.initializeElement(at: count, to: UInt32(total))
        count += 1
      }
    }
    bytes = Array(unsafeUninitializedCapacity: total) { buffer, count in
      for index in indices {
        let key = key(index)
        UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[count...]).copyMemory(from: key)
        count += key.count
      }
    }
  }

  var count: Int { ends.count }
  var byteCount: Int { bytes.count }

  @inline(__always)
  private func start(_ index: Int) -> Int { index == 0 ? 0 : Int(ends[index - 1]) }

  /// Calls `body` with key `index`.
  @inline(__always)
  func withKey<Result>(_ index: Int, _ body: (Bytes) throws -> Result) rethrows -> Result {
    let range = start(index)..<Int(ends[index])
    return try bytes.withUnsafeBytes { try body(Bytes(rebasing: $0[range])) }
  }

  /// The first key that a condition holds for. O(count).
  @inline(__always)
  func firstIndex(where isWanted: (Bytes) -> Bool) -> Int? {
    bytes.withUnsafeBytes { bytes in
      ends.withUnsafeBufferPointer { ends in
        var start = 0
        for index in ends.indices {
          let end = Int(ends[index])
          if isWanted(Bytes(rebasing: bytes[start..<end])) { return index }
          start = end
        }
        return nil
      }
    }
  }

  /// The number of keys less than `key` (`lowerBound`), or less than or equal to it (`upperBound`). O(log count)
  /// comparisons.
  func lowerBound(_ key: Bytes) -> Int { bound(key) { $0 < 0 } }
  func upperBound(_ key: Bytes) -> Int { bound(key) { $0 <= 0 } }

  @inline(__always)
  private func bound(_ key: Bytes, _ isBefore: (Int) -> Bool) -> Int {
    bytes.withUnsafeBytes { bytes in
      ends.withUnsafeBufferPointer { ends in
        var low = 0
        var high = ends.count
        while low < high {
          let middle = (low + high) / 2
          let start = middle == 0 ? 0 : Int(ends[middle - 1])
          let candidate = Bytes(rebasing: bytes[start..<Int(ends[middle])])
          if isBefore(candidate.compare(key)) { low = middle + 1 } else { high = middle }
        }
        return low
      }
    }
  }

  /// The number of keys from `start` on that equal those of `other` from `otherStart` on, until the first that differs.
  /// O(their bytes).
  func equalRun(from start: Int, _ other: PackedKeys, from otherStart: Int) -> Int {
    let most = min(count - start, other.count - otherStart)
    return bytes.withUnsafeBytes { bytes in
      other.bytes.withUnsafeBytes { otherBytes in
        ends.withUnsafeBufferPointer { ends in
          other.ends.withUnsafeBufferPointer { otherEnds in
            // Both share their buffers, as copies of a leaf do when only payloads were changed.
            if start == otherStart, bytes.baseAddress == otherBytes.baseAddress,
              ends.baseAddress == otherEnds.baseAddress
            {
              return most
            }
            let left = start == 0 ? 0 : ends[start - 1]
            let right = otherStart == 0 ? 0 : otherEnds[otherStart - 1]
            var run = 0
            if left == right, ends.baseAddress != nil, otherEnds.baseAddress != nil,
              memcmp(ends.baseAddress! + start, otherEnds.baseAddress! + otherStart, most * 4) == 0
            {
              run = most
            }
            while run < most, ends[start + run] &- left == otherEnds[otherStart + run] &- right { run += 1 }
            // The next `run` keys have equal lengths. If not all of them are equal, a binary search finds how many are.
            let isEqual = { (count: Int) in
              count == 0
                || memcmp(
                  bytes.baseAddress! + Int(left), otherBytes.baseAddress! + Int(right),
                  Int(ends[start + count - 1] - left)) == 0
            }
            if isEqual(run) { return run }
            var equal = 0
            while equal + 1 < run {
              let middle = (equal + run) / 2
              if isEqual(middle) { equal = middle } else { run = middle }
            }
            return equal
          }
        }
      }
    }
  }

  /// Whether both have the same buffers, and are therefore equal. O(1).
  func sharesBuffers(with other: PackedKeys) -> Bool {
    bytes.withUnsafeBytes { left in
      other.bytes.withUnsafeBytes { right in
        ends.withUnsafeBufferPointer { ends in
          other.ends.withUnsafeBufferPointer { otherEnds in
            left.baseAddress == right.baseAddress && ends.baseAddress == otherEnds.baseAddress
          }
        }
      }
    }
  }

  mutating func append(_ key: Bytes) {
    bytes.append(contentsOf: key)
    ends.append(UInt32(bytes.count))
  }

  // `insert` and `remove` make buffers that are exactly large enough. Most nodes share their buffers with another
  // version, so they are copied anyway, and an array that grows allocates twice the memory.

  mutating func insert(_ key: Bytes, at index: Int) {
    let position = start(index)
    replace(position..<position, with: key)
    replaceEnds(index..<index, with: [UInt32(position + key.count)], shift: UInt32(key.count))
  }

  mutating func remove(at index: Int) {
    let position = start(index)
    let length = Int(ends[index]) - position
    replace(position..<position + length, with: Bytes(start: nil, count: 0))
    replaceEnds(index..<index + 1, with: EmptyCollection(), shift: 0 &- UInt32(length))
  }

  private mutating func replace(_ range: Range<Int>, with key: Bytes) {
    var replaced: [UInt8] = []
    replaced.reserveCapacity(bytes.count - range.count + key.count)
    bytes.withUnsafeBytes { old in
      replaced.append(contentsOf: Bytes(rebasing: old[..<range.lowerBound]))
      replaced.append(contentsOf: key)
      replaced.append(contentsOf: Bytes(rebasing: old[range.upperBound...]))
    }
    bytes = replaced
  }

  /// - Parameter shift: added to the ends after the range.
  @inline(__always)
  private mutating func replaceEnds(_ range: Range<Int>, with other: some Collection<UInt32>, shift: UInt32) {
    let count = ends.count - range.count + other.count
    var replaced: [UInt32] = []
    replaced.reserveCapacity(count)
    ends.withUnsafeBufferPointer { old in
      replaced.append(contentsOf: UnsafeBufferPointer(rebasing: old[..<range.lowerBound]))
      replaced.append(contentsOf: other)
      replaced.append(contentsOf: UnsafeBufferPointer(rebasing: old[range.upperBound...]))
    }
    ends = replaced
    shiftEnds(from: range.lowerBound + other.count, by: shift)
  }

  /// Appends some keys of another array.
  mutating func append(_ other: borrowing PackedKeys, _ range: Range<Int>) {
    let (first, last) = (other.start(range.lowerBound), Int(other.ends[range.upperBound - 1]))
    let shift = UInt32(truncatingIfNeeded: bytes.count - first)
    other.bytes.withUnsafeBytes { bytes.append(contentsOf: Bytes(rebasing: $0[first..<last])) }
    let count = ends.count
    other.ends.withUnsafeBufferPointer { ends.append(contentsOf: UnsafeBufferPointer(rebasing: $0[range])) }
    shiftEnds(from: count, by: shift)
  }

  /// Shifts ends without overflow checks, so that the compiler can shift several at a time.
  private mutating func shiftEnds(from start: Int, by shift: UInt32) {
    ends.withUnsafeMutableBufferPointer { ends in
      for index in start..<ends.count { ends[index] &+= shift }
    }
  }

  mutating func append(contentsOf other: PackedKeys) {
    let shift = UInt32(bytes.count)
    bytes.append(contentsOf: other.bytes)
    ends.append(contentsOf: other.ends.lazy.map { $0 + shift })
  }

  /// Copies the keys in `range` into a buffer that is exactly large enough.
  func copy(_ range: Range<Int>) -> PackedKeys {
    guard !range.isEmpty else { return PackedKeys() }
    let first = start(range.lowerBound)
    let last = Int(ends[range.upperBound - 1])
    var result = PackedKeys(reserving: range.count, bytes: last - first)
    result.bytes.append(contentsOf: bytes[first..<last])
    result.ends.append(contentsOf: ends[range].lazy.map { $0 - UInt32(first) })
    return result
  }

  mutating func truncate(to count: Int) {
    bytes.removeSubrange(start(count)...)
    ends.removeSubrange(count...)
  }
}
