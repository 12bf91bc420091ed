import CZlib

/// Compresses pieces of snapshots with zlib's fastest level, which suffices because pages are repetitive.
enum Deflate {
  static func compress(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
    let bound = compressBound(uLong(bytes.count))
    return [UInt8](unsafeUninitializedCapacity: Int(bound)) { buffer, count in
      var length = bound
      let source = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
      let code = compress2(buffer.baseAddress, &length, source, uLong(bytes.count), 1)
      precondition(code == Z_OK, "zlib has no memory")
      count = Int(length)
    }
  }

  /// The most bytes that a compressed piece of `count` bytes takes.
  static func bound(_ count: Int) -> Int { Int(compressBound(uLong(count))) }

  /// Nil if the bytes are not a compressed piece of that length.
  ///
  /// - Parameter count: the length of the decompressed bytes.
  static func decompress(_ bytes: UnsafeRawBufferPointer, count: Int) -> [UInt8]? {
    var isRight = false
    let result = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      var length = uLong(count)
      let source = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
      isRight = uncompress(buffer.baseAddress, &length, source, uLong(bytes.count)) == Z_OK && Int(length) == count
      initialized = Int(length)
    }
    return isRight ? result : nil
  }
}
