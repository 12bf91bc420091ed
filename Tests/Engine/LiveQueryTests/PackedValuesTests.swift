import Ground
import LiveQuery
import Testing

@Suite struct PackedValuesTests {
  private static let values: [SQLValue] = [.null, .integer(-1), .real(0.5), .text("é"), .blob([1, 2, 3]), .text("")]

  private func read(_ bytes: [UInt8], _ count: Int) throws -> [SQLValue] {
    try bytes.withUnsafeBytes { try PackedValues(checking: $0, count: count).values }
  }

  @Test func `Values are read back, as many as there have to be`() throws {
    var packed = PackedValues()
    for value in Self.values { packed.append(value) }
    #expect(try read(packed.bytes, Self.values.count) == Self.values)
    #expect(try read([], 0) == [])
    for count in [0, Self.values.count - 1, Self.values.count + 1] {
      #expect(throws: ByteReader.Malformed.self) { try read(packed.bytes, count) }
    }
  }

  @Test func `Bytes that are not values are refused`() throws {
    var packed = PackedValues()
    for value in Self.values { packed.append(value) }
    for count in packed.bytes.indices {
      #expect(throws: ByteReader.Malformed.self) { try read(Array(packed.bytes[..<count]), Self.values.count) }
    }
    for index in packed.bytes.indices {
      for byte in [0, 3, 5, 0x7F, 0xFF] as [UInt8] {
        var bytes = packed.bytes
        bytes[index] = byte
        // The values may differ, but must be read from within the bytes.
        if let values = try? read(bytes, Self.values.count) { #expect(values.count == Self.values.count) }
      }
    }
    #expect(throws: ByteReader.Malformed.self) { try read([3, 0xFF, 0xFF, 0xFF, 0xFF, 0], 1) }
  }
}
