import Ground

/// A message of the stream of snapshots: a piece of a file, or, after all pieces, their index.
enum SnapshotMessage: Equatable {
  /// A piece: its snapshot, its index from 0 up, its length, its compressed bytes.
  case piece(id: String, index: Int, length: Int, bytes: [UInt8])
  case end(SnapshotIndex)

  private static let magic: [UInt8] = [0xF5, 0x53, 1]

  var bytes: [UInt8] {
    var writer = ByteWriter()
    writer.add(plain: Self.magic)
    switch self {
    case .piece(let id, let index, let length, let bytes):
      writer.reserve(bytes.count + 128)
      writer.add(byte: 0)
      writer.add(id)
      writer.add(index)
      writer.add(length)
      writer.add(plain: bytes)
    case .end(let index):
      writer.add(byte: 1)
      writer.add(index.id)
      writer.add(index.position.epoch)
      writer.add(index.position.number)
      writer.add(index.position.commit)
      writer.add(plain: index.position.hash)
      writer.add(index.logSequence)
      writer.add(index.firstSequence)
      writer.add(index.pieces)
      writer.add(index.bytes)
      writer.add(plain: index.digest)
      writer.add(index.time)
    }
    return writer.bytes
  }

  init?(_ bytes: UnsafeRawBufferPointer) {
    do throws(ByteReader.Malformed) { try self.init(reading: bytes) } catch { return nil }
  }

  private init(reading bytes: UnsafeRawBufferPointer) throws(ByteReader.Malformed) {
    var reader = ByteReader(bytes)
    guard try reader.bytes(3).elementsEqual(Self.magic) else { throw ByteReader.Malformed() }
    let isEnd = try reader.byte() == 1
    let id = try reader.text()
    if !isEnd {
      let (index, length) = (try reader.number(), try reader.number())
      self = .piece(id: id, index: index, length: length, bytes: Array(reader.rest()))
      return
    }
    let (epoch, number, commit) = (try reader.text(), try reader.signed(), try reader.signed())
    let hash = Array(try reader.bytes(Digest.size))
    self = .end(
      SnapshotIndex(
        id: id, position: LogPosition(epoch: epoch, number: number, commit: commit, hash: hash),
        logSequence: try reader.packed(), firstSequence: try reader.packed(), pieces: try reader.number(),
        bytes: try reader.number(),
        digest: Array(try reader.bytes(Digest.size)), time: try reader.signed()))
  }
}

/// The contents of a snapshot, and its place.
struct SnapshotIndex: Equatable, Sendable {
  var id: String
  /// The position of the state that the file shows.
  var position: LogPosition
  /// The number of the log's message that led to the position; 0: not known.
  var logSequence: UInt64
  /// The number of its first piece in the stream.
  var firstSequence: UInt64
  var pieces: Int
  /// The size of the file.
  var bytes: Int
  /// SHA-256 of the file.
  var digest: [UInt8]
  /// In milliseconds since 1970.
  var time: Int64
}
