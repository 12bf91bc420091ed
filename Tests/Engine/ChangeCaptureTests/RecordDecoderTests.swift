import CSQLite
import Foundation
import TestSupport
import Testing

@testable import ChangeCapture

/// Records made by hand, each for one rule of the decoder: it reads what SQLite would read, or nothing.
@Suite struct RecordDecoderTests {
  enum Value: Equatable {
    case null, integer(Int64), real(Double), text([UInt8]), blob([UInt8])
  }

  private static let plain = RecordDecoder.Column(isReal: false, hasDefault: false)

  /// - Returns: nil if the decoder is not certain.
  private func decode(
    _ record: [UInt8], columns: [RecordDecoder.Column]? = nil, order: [Int]? = nil, rowidColumn: Int? = nil,
    count: Int = 1, isUTF16: Bool = false
  ) -> [Value]? {
    let columns = columns ?? [RecordDecoder.Column](repeating: Self.plain, count: count)
    let decoder = RecordDecoder(
      columns: columns, columnOfField: order ?? Array(columns.indices), rowidColumn: rowidColumn)
    let guarded = GuardedBytes(record)
    let values = UnsafeMutablePointer<sqlite_row_value>.allocate(capacity: columns.count)
    values.initialize(repeating: sqlite_row_value(), count: columns.count)
    defer { values.deallocate() }
    let isKnown = decoder.decode(guarded.bytes, rowid: 77, isUTF16: isUTF16, into: values)
    guard isKnown else { return nil }
    return (0..<columns.count).map { read(values[$0], within: guarded.bytes) }
  }

  private func read(_ value: sqlite_row_value, within record: UnsafeRawBufferPointer) -> Value {
    switch value.type {
    case SQLITE_INTEGER: return .integer(value.number)
    case SQLITE_FLOAT: return .real(Double(bitPattern: UInt64(bitPattern: value.number)))
    case SQLITE_TEXT, SQLITE_BLOB:
      let bytes = UnsafeRawBufferPointer(start: value.bytes, count: Int(value.length))
      let start = record.baseAddress!
      #expect(bytes.baseAddress! >= start && bytes.baseAddress! + bytes.count <= start + record.count)
      return value.type == SQLITE_TEXT ? .text(Array(bytes)) : .blob(Array(bytes))
    default: return .null
    }
  }

  @Test func valuesAreRead() {
    let header: [UInt8] = [12, 0, 1, 2, 3, 4, 5, 6, 8, 9, 13, 12]
    var body: [UInt8] = [0x80]
    for count in [2, 3, 4, 6, 8] { body += [0xFF] + [UInt8](repeating: 0, count: count - 1) }
    let integers = [-128, -1 << 8, -1 << 16, -1 << 24, -1 << 40, -1 << 56, 0, 1].map { Value.integer($0) }
    #expect(decode(header + body, count: 11) == [.null] + integers + [.text([]), .blob([])])
    #expect(decode([2, 7, 0x3F, 0xF8, 0, 0, 0, 0, 0, 0]) == [.real(1.5)])
    #expect(decode([3, 17, 16, 0xFF, 0xFE, 1, 2], count: 2) == [.text([0xFF, 0xFE]), .blob([1, 2])])
  }

  // Rules of records: not-a-number
  @Test func notANumberIsNull() {
    #expect(decode([2, 7, 0x7F, 0xF8, 0, 0, 0, 0, 0, 1]) == [.null])
    #expect(decode([2, 7, 0x7F, 0xF0, 0, 0, 0, 0, 0, 0]) == [.real(.infinity)])
  }

  // Rules of records: whole-reals
  @Test func wholeNumbersOfRealColumnsAreReals() {
    let real = RecordDecoder.Column(isReal: true, hasDefault: false)
    #expect(decode([3, 1, 1, 5, 0xFB], columns: [real, Self.plain]) == [.real(5), .integer(-5)])
    #expect(decode([3, 8, 15, 0x61], columns: [real, real]) == [.real(0), .text([0x61])])
  }

  /// The rowid is used, whatever the field holds.
  // Rules of records: rowid-alias
  @Test func theRowidStandsInItsColumn() {
    #expect(decode([3, 0, 9], rowidColumn: 0, count: 2) == [.integer(77), .integer(1)])
    #expect(decode([3, 1, 9, 5], rowidColumn: 0, count: 2) == [.integer(77), .integer(1)])
  }

  /// Tables `WITHOUT ROWID` begin with the key's columns.
  // Rules of records: field-order
  @Test func fieldsStandInAnyOrder() {
    #expect(decode([4, 9, 8, 0], order: [2, 0, 1], count: 3) == [.integer(0), .null, .integer(1)])
  }

  // Rules of records: added-columns, added-columns-are-null
  @Test func columnsThatWereAddedAreNullOrNotKnown() {
    let added = RecordDecoder.Column(isReal: false, hasDefault: true)
    #expect(decode([2, 9], count: 3) == [.integer(1), .null, .null])
    #expect(decode([2, 9], columns: [Self.plain, added]) == nil)
    #expect(decode([3, 9, 8], columns: [Self.plain, added]) == [.integer(1), .integer(0)])
    #expect(decode([1], rowidColumn: 1, count: 2) == [.null, .integer(77)])
  }

  /// A header beyond the record, or shorter than itself; bodies beyond it, or bytes behind the last; more fields than
  /// columns; types that no record has.
  // Rules of records: more-fields, body-beyond, bytes-behind, header-beyond, internal-types
  @Test(
    arguments: [
      [], [0], [2], [3, 9], [0x80], [0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00, 9], [2, 1], [2, 6, 1, 2, 3],
      [2, 9, 0], [2, 17, 0x61], [3, 9, 9], [2, 10], [2, 11], [2, 0x80], [2, 0x81],
      [10, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
      [10, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFE],
    ] as [[UInt8]])
  func otherRecordsAreNotKnown(record: [UInt8]) { #expect(decode(record) == nil) }

  /// SQLite would drop a byte order mark or half a unit if it were given them.
  // Rules of records: utf16-changed, utf16-half-unit
  @Test func textThatSQLiteWouldChangeIsNotKnown() {
    for text in [[0xFE, 0xFF], [0xFF, 0xFE], [0xFE, 0xFF, 0, 0x61], [0x61]] as [[UInt8]] {
      let header = [2, UInt8(13 + 2 * text.count)]
      #expect(decode(header + text, isUTF16: true) == nil)
      #expect(decode(header + text) == [.text(text)])
    }
    #expect(decode([2, 17, 0x61, 0], isUTF16: true) == [.text([0x61, 0])])
    #expect(decode([2, 13], isUTF16: true) == [.text([])])
    #expect(decode([2, 14, 0xFE], isUTF16: true) == [.blob([0xFE])])
  }

  /// The decoder reads no bytes beyond a record, and returns no values beyond it.
  @Test func anyBytesMayCome() {
    var random = SeededGenerator(seed: PropertySeeds.repeated ?? 5)
    var known = 0
    for _ in 0..<20_000 {
      let count = Int.random(in: 0...24, using: &random)
      var record = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
      let fields = Int.random(in: 0...4, using: &random)
      if fields < count {
        record[0] = UInt8(fields + 1)
        for field in 0..<fields { record[field + 1] = UInt8.random(in: 0...24, using: &random) }
      }
      if decode(record, count: 4, isUTF16: Bool.random(using: &random)) != nil { known += 1 }
    }
    #expect(known > 100)
  }
}

/// Bytes before a page that cannot be read: reading beyond them would end the process.
private final class GuardedBytes {
  private static let pageSize = Int(getpagesize())
  private let start: UnsafeMutableRawPointer
  let bytes: UnsafeRawBufferPointer

  /// - Parameter content: less than a page.
  init(_ content: [UInt8]) {
    let size = GuardedBytes.pageSize
    start = mmap(nil, 2 * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    mprotect(start + size, size, PROT_NONE)
    let place = start + size - content.count
    place.copyMemory(from: content, byteCount: content.count)
    bytes = UnsafeRawBufferPointer(start: place, count: content.count)
  }

  deinit { munmap(start, 2 * GuardedBytes.pageSize) }
}
