package import ChangeCapture
import Ground
import RankedCollections

/// A file of records that is only added to. Each has its length and a checksum before it, so that one that is torn at the end is known.
package struct RecordLog: ~Copyable {
  private let path: String
  private let descriptor: Int32
  package private(set) var byteCount = 0

  private init(_ path: String, _ descriptor: Int32) {
    self.path = path
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }

  /// Begins a file; the one that had the name before is gone.
  package static func begin(_ path: String, _ records: [[UInt8]]) throws(StateFailure) -> RecordLog {
    let temporary = path + ".tmp"
    var log = RecordLog(path, try OwnFile.make(temporary))
    try log.append(records)
    if rename(temporary, path) != 0 { throw StateFailure("cannot rename \(temporary)", errno) }
    return log
  }

  package mutating func append(_ records: [[UInt8]]) throws(StateFailure) {
    var bytes: [UInt8] = []
    for record in records {
      withUnsafeBytes(of: UInt32(record.count)) { bytes.append(contentsOf: $0) }
      withUnsafeBytes(of: Self.checksum(record[...])) { bytes.append(contentsOf: $0) }
      bytes += record
    }
    guard bytes.withUnsafeBytes({ OwnFile.write($0, to: descriptor) }) else {
      throw StateFailure("cannot write \(path)", errno)
    }
    byteCount += bytes.count
  }

  /// The records of a file, without one at the end that is torn.
  ///
  /// - Returns: nil: there is no file.
  package static func records(_ path: String) throws(StateFailure) -> [[UInt8]]? {
    guard let bytes = try OwnFile.contents(of: path) else { return nil }
    var records: [[UInt8]] = []
    var position = 0
    while let record = record(bytes, at: position) {
      records.append(Array(record))
      position = record.endIndex
    }
    return records
  }

  private static func record(_ bytes: [UInt8], at position: Int) -> ArraySlice<UInt8>? {
    let start = position + headSize
    guard start <= bytes.count else { return nil }
    let (length, sum) = bytes.withUnsafeBytes {
      (
        Int($0.loadUnaligned(fromByteOffset: position, as: UInt32.self)),
        $0.loadUnaligned(fromByteOffset: position + 4, as: UInt64.self)
      )
    }
    guard bytes.count - start >= length else { return nil }
    let record = bytes[start..<start + length]
    return checksum(record) == sum ? record : nil
  }

  private static let headSize = 12

  private static func checksum(_ record: ArraySlice<UInt8>) -> UInt64 {
    record.withUnsafeBytes { $0.hash(seed: 0x6368_616E_6765_7331) }
  }
}
