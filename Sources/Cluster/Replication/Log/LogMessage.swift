import Ground

/// A part of a batch, as one message of the log, within the broker's limit of length.
package struct LogMessage: Equatable, Sendable {
  private static let magic: [UInt8] = [0xF5, 0x4C]
  private static let version: UInt8 = 1
  /// An upper bound of a message's bytes in addition to its contents.
  static let overhead = 512

  package var kind: LogBatch.Kind
  package var epoch: String
  package var began: Int64
  package var number: Int64
  /// From 0 up.
  package var part: Int
  package var isLast: Bool
  package var commitBefore: Int64
  package var commit: Int64
  package var time: Int64
  /// The hash before the batch, and after it.
  package var previous: [UInt8]
  package var hash: [UInt8]
  package var contents: ArraySlice<UInt8>

  /// The parts of a batch.
  ///
  /// - Parameter longest: the most bytes that a message may have.
  package static func parts(of batch: LogBatch, after position: LogPosition, longest: Int) -> [LogMessage] {
    let size = max(1, longest - overhead)
    let hash = batch.number == 0 ? position.hash : batch.hash(after: position.hash)
    let starts = batch.contents.isEmpty ? [0] : Array(stride(from: 0, to: batch.contents.count, by: size))
    return starts.enumerated().map { part, start in
      LogMessage(
        kind: batch.kind, epoch: batch.epoch, began: batch.began, number: batch.number, part: part,
        isLast: part == starts.count - 1, commitBefore: batch.commitBefore, commit: batch.commit, time: batch.time,
        previous: position.hash, hash: hash,
        contents: batch.contents[start..<min(start + size, batch.contents.count)])
    }
  }

  /// The id by which the broker recognises repetitions.
  package var id: String { "\(epoch).\(number).\(part)" }

  package var bytes: [UInt8] {
    var writer = ByteWriter()
    writer.reserve(contents.count + Self.overhead)
    writer.add(plain: Self.magic)
    writer.add(byte: Self.version)
    writer.add(byte: kind.rawValue)
    writer.add(byte: isLast ? 1 : 0)
    writer.add(epoch)
    writer.add(began)
    writer.add(number)
    writer.add(part)
    writer.add(commitBefore)
    writer.add(commit)
    writer.add(time)
    writer.add(plain: previous)
    writer.add(plain: hash)
    writer.add(plain: contents)
    return writer.bytes
  }

  /// Nil if the bytes are malformed.
  package init?(_ bytes: UnsafeRawBufferPointer) {
    do throws(ByteReader.Malformed) { try self.init(reading: bytes) } catch { return nil }
  }

  private init(reading bytes: UnsafeRawBufferPointer) throws(ByteReader.Malformed) {
    var reader = ByteReader(bytes)
    let hasMagic = try reader.bytes(2).elementsEqual(Self.magic)
    guard hasMagic, try reader.byte() == Self.version, let kind = LogBatch.Kind(rawValue: try reader.byte()) else {
      throw ByteReader.Malformed()
    }
    self.kind = kind
    isLast = try reader.byte() == 1
    epoch = try reader.text()
    began = try reader.signed()
    number = try reader.signed()
    part = try reader.number()
    commitBefore = try reader.signed()
    commit = try reader.signed()
    time = try reader.signed()
    previous = Array(try reader.bytes(Digest.size))
    hash = Array(try reader.bytes(Digest.size))
    contents = ArraySlice(reader.rest())
  }

  private init(
    kind: LogBatch.Kind, epoch: String, began: Int64, number: Int64, part: Int, isLast: Bool, commitBefore: Int64,
    commit: Int64, time: Int64, previous: [UInt8], hash: [UInt8], contents: ArraySlice<UInt8>
  ) {
    (self.kind, self.epoch, self.began, self.number, self.part, self.isLast) = (
      kind, epoch, began, number, part, isLast
    )
    (self.commitBefore, self.commit, self.time) = (commitBefore, commit, time)
    (self.previous, self.hash, self.contents) = (previous, hash, contents)
  }
}
