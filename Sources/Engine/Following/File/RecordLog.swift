package import ChangeCapture
import Ground

/// A file of records to which records are only added. Each record follows its length and a checksum, so that a torn
/// record at the end is recognized.
package struct RecordLog: ~Copyable {
  private let path: String
  private let descriptor: Int32
  package private(set) var byteCount = 0

  private init(_ path: String, _ descriptor: Int32) {
    self.path = path
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }

  /// Begins a file, and replaces an existing one of this name.
  package static func begin(_ path: String, _ records: [[UInt8]]) throws(StateFailure) -> RecordLog {
    let temporary = path + ".tmp"
    var log = RecordLog(path, try OwnFile.make(temporary))
    try log.append(records)
    if rename(temporary, path) != 0 { throw StateFailure("cannot rename \(temporary)", errno) }
    return log
  }

  package mutating func append(_ records: [[UInt8]]) throws(StateFailure) {
    var writer = ByteWriter()
    for record in records {
      writer.add(record.count)
      record.withUnsafeBytes { record in
        withUnsafeBytes(of: Self.checksum(record).littleEndian) { writer.add(plain: $0) }
        writer.add(plain: record)
      }
    }
    guard writer.bytes.withUnsafeBytes({ OwnFile.write($0, to: descriptor) }) else {
      throw StateFailure("cannot write \(path)", errno)
    }
    byteCount += writer.bytes.count
  }

  /// The records of a file, without a torn record at the end.
  ///
  /// - Returns: nil if there is no file.
  package static func records(_ path: String) throws(StateFailure) -> [[UInt8]]? {
    guard let bytes = try OwnFile.contents(of: path) else { return nil }
    return bytes.withUnsafeBytes { bytes in
      var reader = ByteReader(bytes)
      var records: [[UInt8]] = []
      while let record = try? record(&reader) { records.append(Array(record)) }
      return records
    }
  }

  private static func record(_ reader: inout ByteReader) throws(ByteReader.Malformed) -> Bytes {
    let (length, sum) = (try reader.count(), try reader.word())
    let record = try reader.bytes(length)
    if checksum(record) != sum { throw ByteReader.Malformed() }
    return record
  }

  private static func checksum(_ record: Bytes) -> UInt64 { record.hash(seed: 0x6368_616E_6765_7331) }
}
