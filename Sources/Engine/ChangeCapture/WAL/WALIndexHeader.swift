import Synchronization

/// The header of the WAL-index: which state of a database in WAL mode is the newest.
///
/// All users of the database share it as memory; every commit writes both copies of it anew, after everything else
/// (https://sqlite.org/walformat.html#the_wal_index_header). Its numbers are in the machine's own byte order.
package struct WALIndexHeader: Equatable, Sendable {
  /// The size of one copy, in bytes.
  static let size = 48
  /// SQLite's only format version. Forks such as WAL2 have other versions.
  static let knownVersion: UInt32 = 3_007_000

  let version: UInt32
  /// A count of commits, which a recovery sets to 0.
  let changes: UInt32
  let isInitialized: Bool
  /// Whether checksums are computed from big-endian words.
  let isBigEndian: Bool
  let pageSize: Int
  /// The number of committed frames.
  let frameCount: UInt32
  /// The number of pages of the database in this state.
  let pageCount: UInt32
  /// The checksum of the last committed frame, from which the chain continues.
  let checksum: WALChecksum
  /// The salts of the WAL's generation, in the same byte order as in the frames.
  let salts: UInt64
  private let padding: UInt32
  private let ownChecksum: WALChecksum

  /// Reads one copy.
  init(_ start: UnsafeRawPointer) {
    func word(_ offset: Int) -> UInt32 { start.loadUnaligned(fromByteOffset: offset, as: UInt32.self) }
    version = word(0)
    changes = word(8)
    isInitialized = start.byte(12) != 0
    isBigEndian = start.byte(13) != 0
    let size = Int(start.loadUnaligned(fromByteOffset: 14, as: UInt16.self))
    pageSize = (size & 0xFE00) + ((size & 1) << 16)
    frameCount = word(16)
    pageCount = word(20)
    checksum = WALChecksum(word(24), word(28))
    salts = start.loadUnaligned(fromByteOffset: 32, as: UInt64.self)
    padding = word(4)
    ownChecksum = WALChecksum(word(40), word(44))
  }

  /// The header as it was after another commit of the same generation.
  ///
  /// - Parameter distance: the number of commits from this state to that one; negative if that one is earlier.
  func moved(to commit: FrameReader.Commit, by distance: Int) -> WALIndexHeader {
    withUnsafeTemporaryAllocation(byteCount: WALIndexHeader.size, alignment: 8) { bytes in
      let start = bytes.baseAddress!
      write(to: start)
      func put(_ word: UInt32, at offset: Int) { start.storeBytes(of: word, toByteOffset: offset, as: UInt32.self) }
      put(changes &+ UInt32(truncatingIfNeeded: distance), at: 8)
      put(commit.frame, at: 16)
      put(commit.pageCount, at: 20)
      put(commit.checksum.first, at: 24)
      put(commit.checksum.second, at: 28)
      var sum = WALChecksum(0, 0)
      sum.add(UnsafeRawPointer(start), 40, isNative: true)
      put(sum.first, at: 40)
      put(sum.second, at: 44)
      return WALIndexHeader(UnsafeRawPointer(start))
    }
  }

  /// Reads a kept copy, which may be malformed.
  init?(validating bytes: UnsafeRawBufferPointer) {
    guard let start = bytes.baseAddress, bytes.count == Self.size else { return nil }
    self.init(start)
    var sum = WALChecksum(0, 0)
    sum.add(start, 40, isNative: true)
    let isPageSize = pageSize == 0 || (512...65_536).contains(pageSize) && pageSize & (pageSize - 1) == 0
    if !isInitialized || !isPageSize || sum != ownChecksum { return nil }
  }

  /// Writes a copy, which takes `size` bytes.
  func write(to start: UnsafeMutableRawPointer) {
    func put(_ word: UInt32, at offset: Int) { start.storeBytes(of: word, toByteOffset: offset, as: UInt32.self) }
    put(version, at: 0)
    put(padding, at: 4)
    put(changes, at: 8)
    start.storeBytes(of: isInitialized ? 1 : 0, toByteOffset: 12, as: UInt8.self)
    start.storeBytes(of: isBigEndian ? 1 : 0, toByteOffset: 13, as: UInt8.self)
    start.storeBytes(of: UInt16(pageSize & 0xFE00 | pageSize >> 16), toByteOffset: 14, as: UInt16.self)
    put(frameCount, at: 16)
    put(pageCount, at: 20)
    put(checksum.first, at: 24)
    put(checksum.second, at: 28)
    start.storeBytes(of: salts, toByteOffset: 32, as: UInt64.self)
    put(ownChecksum.first, at: 40)
    put(ownChecksum.second, at: 44)
  }

  /// The first salt, which grows by one with every generation.
  var generation: UInt32 {
    withUnsafeBytes(of: salts) { $0.baseAddress!.bigEndian32(0) }
  }

  /// Whether the WAL has started over since the other header. False if the WAL-index was rebuilt in between, or is of
  /// another file.
  func isOfLaterGeneration(than other: WALIndexHeader) -> Bool {
    (1...1 << 16).contains(generation &- other.generation) && changes >= other.changes
  }

  /// Whether the WAL has started over since the other header, without a commit since.
  func beginsAnew(after other: WALIndexHeader) -> Bool {
    frameCount == 0 && changes == other.changes && isOfLaterGeneration(than: other)
  }

  /// Reads both copies as SQLite does. Nil while a commit is writing them.
  static func read(_ start: UnsafeRawPointer) -> WALIndexHeader? {
    withUnsafeTemporaryAllocation(byteCount: size, alignment: 8) { copy in
      copy.copyMemory(from: UnsafeRawBufferPointer(start: start, count: size))
      atomicMemoryFence(ordering: .sequentiallyConsistent)
      let first = UnsafeRawPointer(copy.baseAddress!)
      guard UnsafeRawBufferPointer(copy).hasSameBytes(as: UnsafeRawBufferPointer(start: start + size, count: size))
      else { return nil }
      let header = WALIndexHeader(first)
      var sum = WALChecksum(0, 0)
      sum.add(first, 40, isNative: true)
      return header.isInitialized && sum == header.ownChecksum ? header : nil
    }
  }
}

/// SQLite's checksum of the WAL. The checksum of each frame continues that of the previous frame.
struct WALChecksum: Equatable, Sendable {
  var first: UInt32
  var second: UInt32

  init(_ first: UInt32, _ second: UInt32) {
    self.first = first
    self.second = second
  }

  /// - Parameter count: the number of bytes, a multiple of 8.
  mutating func add(_ start: UnsafeRawPointer, _ count: Int, isNative: Bool) {
    var (one, two) = (first, second)
    var cursor = start
    let end = start + count
    if isNative {
      // The loop takes four steps at a time, because otherwise a fifth of the time goes to the loop itself.
      while cursor + 32 <= end {
        for step in 0..<4 {
          one &+= cursor.loadUnaligned(fromByteOffset: 8 &* step, as: UInt32.self) &+ two
          two &+= cursor.loadUnaligned(fromByteOffset: 8 &* step &+ 4, as: UInt32.self) &+ one
        }
        cursor += 32
      }
      while cursor < end {
        one &+= cursor.loadUnaligned(as: UInt32.self) &+ two
        two &+= cursor.loadUnaligned(fromByteOffset: 4, as: UInt32.self) &+ one
        cursor += 8
      }
    } else {
      while cursor < end {
        one &+= cursor.loadUnaligned(as: UInt32.self).byteSwapped &+ two
        two &+= cursor.loadUnaligned(fromByteOffset: 4, as: UInt32.self).byteSwapped &+ one
        cursor += 8
      }
    }
    (first, second) = (one, two)
  }
}
