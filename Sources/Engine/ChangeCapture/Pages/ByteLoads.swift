import Ground

extension UnsafeRawBufferPointer {
  @inline(__always)
  func hasSameBytes(as other: UnsafeRawBufferPointer) -> Bool {
    count == other.count && (count == 0 || memcmp(baseAddress!, other.baseAddress!, count) == 0)
  }
}

/// Loads of numbers in SQLite's file formats, which are big-endian. The caller guarantees that the bytes can be read.
extension UnsafeRawPointer {
  @inline(__always)
  func bigEndian32(_ offset: Int) -> UInt32 {
    UInt32(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt32.self))
  }

  @inline(__always)
  func bigEndian16(_ offset: Int) -> Int {
    Int(UInt16(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt16.self)))
  }

  @inline(__always)
  func byte(_ offset: Int) -> UInt8 { load(fromByteOffset: offset, as: UInt8.self) }
}

/// Reads one of SQLite's variable-length integers: big-endian, seven bits a byte, nine bytes at most.
///
/// - Returns: the number of bytes that it takes; 0 if it does not end before `end`.
@inline(__always)
func readVarint(_ start: UnsafeRawPointer, _ end: UnsafeRawPointer, _ value: inout UInt64) -> Int {
  if start < end {
    let first = start.byte(0)
    if first < 0x80 {
      value = UInt64(first)
      return 1
    }
    // A fast path for numbers of up to three bytes: rowids below two million.
    if start + 3 <= end {
      let second = start.byte(1)
      if second < 0x80 {
        value = UInt64(first & 0x7F) &<< 7 | UInt64(second)
        return 2
      }
      let third = start.byte(2)
      if third < 0x80 {
        value = UInt64(first & 0x7F) &<< 14 | UInt64(second & 0x7F) &<< 7 | UInt64(third)
        return 3
      }
    }
  }
  return readLongVarint(start, end, &value)
}

private func readLongVarint(_ start: UnsafeRawPointer, _ end: UnsafeRawPointer, _ value: inout UInt64) -> Int {
  var result: UInt64 = 0
  for index in 0..<9 {
    if start + index >= end { return 0 }
    let byte = start.byte(index)
    if index == 8 {
      value = result << 8 | UInt64(byte)
      return 9
    }
    result = result << 7 | UInt64(byte & 0x7F)
    if byte < 0x80 {
      value = result
      return index + 1
    }
  }
  return 0
}

/// Reads a little-endian base-128 number as `ByteBuffer` writes it. The caller guarantees that all of its bytes can be
/// read.
@inline(__always)
func readPacked(_ cursor: inout UnsafeRawPointer) -> UInt64 {
  var byte = cursor.byte(0)
  cursor += 1
  if byte < 0x80 { return UInt64(byte) }
  var result = UInt64(byte & 0x7F)
  var shift: UInt64 = 7
  repeat {
    byte = cursor.byte(0)
    cursor += 1
    result |= UInt64(byte & 0x7F) << shift
    shift += 7
  } while byte >= 0x80
  return result
}
