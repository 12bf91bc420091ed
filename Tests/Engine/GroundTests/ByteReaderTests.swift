import Ground
import Testing

/// Bytes that are written and read, and bytes that may be anything.
@Suite struct ByteReaderTests {
  private func read<Value>(
    _ bytes: [UInt8], _ body: (inout ByteReader) throws(ByteReader.Malformed) -> Value
  ) throws(ByteReader.Malformed) -> Value {
    let result = bytes.withUnsafeBytes { bytes -> Result<Value, ByteReader.Malformed> in
      var reader = ByteReader(bytes)
      do throws(ByteReader.Malformed) { return .success(try body(&reader)) } catch { return .failure(error) }
    }
    return try result.get()
  }

  @Test func `Whatever was written is read`() throws {
    let signed: [Int64] = [0, 1, -1, 63, 64, -64, -65, 1 << 31, .max, .min, .min + 1]
    let numbers: [UInt64] = [0, 1, 127, 128, 16_383, 16_384, 1 << 63, .max]
    var writer = ByteWriter()
    for number in signed { writer.add(number) }
    for number in numbers { writer.add(number) }
    writer.add(true)
    writer.add("a\u{0}é")
    writer.add([UInt8](repeating: 7, count: 300))
    writer.add(plain: [1, 0, 0, 0, 0, 0, 0, 2, 5])
    try read(writer.bytes) { reader throws(ByteReader.Malformed) in
      for number in signed {
        let found = try reader.signed()
        #expect(found == number)
      }
      for number in numbers {
        let found = try reader.packed()
        #expect(found == number)
      }
      let (flag, text, bytes) = (try reader.flag(), try reader.text(), Array(try reader.counted()))
      #expect(flag)
      #expect(text == "a\u{0}é")
      #expect(bytes == [UInt8](repeating: 7, count: 300))
      let word = try reader.word()
      #expect(word == 2 << 56 | 1)
      #expect(Array(reader.rest()) == [5])
      try reader.mustEnd()
    }
  }

  @Test func `Numbers of more than 64 bits are refused`() throws {
    let nines = [UInt8](repeating: 0xFF, count: 9)
    #expect(try read(nines + [1]) { reader throws(ByteReader.Malformed) in try reader.packed() } == .max)
    for bytes in [nines + [2], nines + [0x81, 0], [UInt8](repeating: 0xFF, count: 20), [0x80], []] {
      #expect(throws: ByteReader.Malformed.self) {
        try read(bytes) { reader throws(ByteReader.Malformed) in try reader.packed() }
      }
    }
  }

  @Test func `Numbers above their limit are refused`() throws {
    #expect(try read([7]) { reader throws(ByteReader.Malformed) in try reader.packed(upTo: 7) } == 7)
    #expect(throws: ByteReader.Malformed.self) {
      try read([8]) { reader throws(ByteReader.Malformed) in try reader.packed(upTo: 7) }
    }
    #expect(throws: ByteReader.Malformed.self) {
      try read([2]) { reader throws(ByteReader.Malformed) in try reader.flag() }
    }
    var writer = ByteWriter()
    writer.add(UInt64(1) << 63)
    #expect(throws: ByteReader.Malformed.self) {
      try read(writer.bytes) { reader throws(ByteReader.Malformed) in try reader.number() }
    }
  }

  @Test func `Counts are bounded by the bytes that are left`() throws {
    #expect(try read([3, 0, 0, 0]) { reader throws(ByteReader.Malformed) in try reader.count() } == 3)
    #expect(try read([1, 0, 0, 0]) { reader throws(ByteReader.Malformed) in try reader.count(ofAtLeast: 2) } == 1)
    for (bytes, size) in [([4, 0, 0, 0], 1), ([2, 0, 0, 0], 2)] as [([UInt8], Int)] {
      #expect(throws: ByteReader.Malformed.self) {
        try read(bytes) { reader throws(ByteReader.Malformed) in try reader.count(ofAtLeast: size) }
      }
    }
    var writer = ByteWriter()
    writer.add(Int.max)
    let long = writer.bytes
    #expect(throws: ByteReader.Malformed.self) {
      try read(long) { reader throws(ByteReader.Malformed) in try reader.text() }
    }
    for count in [-1, 3, .max, .min] {
      #expect(throws: ByteReader.Malformed.self) {
        try read([0, 0]) { reader throws(ByteReader.Malformed) in Array(try reader.bytes(count)) }
      }
    }
  }

  @Test func `Text that is not UTF-8, and bytes behind the end, are refused`() {
    #expect(throws: ByteReader.Malformed.self) {
      try read([2, 0xC3, 0x28]) { reader throws(ByteReader.Malformed) in try reader.text() }
    }
    #expect(throws: ByteReader.Malformed.self) {
      try read([0]) { reader throws(ByteReader.Malformed) in try reader.mustEnd() }
    }
  }
}
