import Foundation

@testable import ChangeCapture

/// A WAL that an attacker wrote, between two states that a WAL-index names.
///
/// An input is a byte of flags, the two copies of the WAL-index header, and the WAL. Checksums would keep nearly every
/// input out: where the flags say so, they are put right first.
enum WALTarget {
  private static let pageSize = 512
  private static let frameSize = pageSize + FrameReader.frameHeaderSize

  static func run(_ input: UnsafeRawBufferPointer) -> Bool {
    let start = 1 + 2 * WALIndexHeader.size
    guard input.count > start, input.count < 64 << 10 else { return false }
    let flags = input[0]
    var wal = Array(input.dropFirst(start))
    var headers = Array(input[1..<start])
    headers[13] = flags & 1
    headers[WALIndexHeader.size + 13] = flags & 1
    if flags & 2 != 0 { repair(&wal, &headers, isBigEndian: flags & 1 != 0) }
    let (seen, current) = headers.withUnsafeBytes {
      (WALIndexHeader($0.baseAddress!), WALIndexHeader($0.baseAddress! + WALIndexHeader.size))
    }
    // An index that claims millions of missing frames is refused when the first is read; see FrameReader.
    let source = MemoryBytes(wal)
    let reader = FrameReader()
    let pages = SnapshotPages(database: MemoryBytes([UInt8](repeating: 3, count: 4 * pageSize)), wal: source)
    pages.begin(pageSize: pageSize, isBackfilled: flags & 4 != 0)
    if (try? pages.readFrameNumbers(after: 0, upTo: min(current.frameCount, 1 << 16))) == nil, flags & 8 != 0 {
      return true
    }
    do throws(Doubt) {
      let step = try WALFollower(pageSize: pageSize, reader: reader).step(from: seen, to: current, source)
      check(reader.frames.count * frameSize <= wal.count, "more frames than there are bytes")
      pages.take(reader, rest: step.rest, isNewGeneration: step.isNewGeneration)
      check(zip(pages.changed, pages.changed.dropFirst()).allSatisfy { $0 < $1 }, "changed pages out of order")
      let buffer = ByteBuffer()
      for page in pages.changed.prefix(100) {
        if let image = try? pages.page(page, buffer) { _ = UnsafeRawBufferPointer(start: image, count: pageSize).max() }
        if let image = pages.formerPage(page, buffer) {
          _ = UnsafeRawBufferPointer(start: image, count: pageSize).max()
        }
      }
      _ = try pages.readFirstPage()
      pages.end()
    } catch {}
    return true
  }

  /// Gives the WAL the checksums of its bytes, and the second header those of the last frame.
  private static func repair(_ wal: inout [UInt8], _ headers: inout [UInt8], isBigEndian: Bool) {
    guard wal.count >= FrameReader.headerSize else { return }
    func put(_ number: UInt32, _ offset: Int) {
      withUnsafeBytes(of: number.bigEndian) { wal.replaceSubrange(offset..<offset + 4, with: $0) }
    }
    put(isBigEndian ? 0x377F_0683 : 0x377F_0682, 0)
    put(UInt32(pageSize), 8)
    let second = WALIndexHeader.size
    wal.replaceSubrange(16..<24, with: headers[second + 32..<second + 40])
    var sum = WALChecksum(0, 0)
    func add(_ offset: Int, _ count: Int) {
      wal.withUnsafeBytes { sum.add($0.baseAddress! + offset, count, isNative: isBigEndian == (1.bigEndian == 1)) }
    }
    add(0, 24)
    put(sum.first, 24)
    put(sum.second, 28)
    var frames: UInt32 = 0
    for offset in stride(from: FrameReader.headerSize, through: wal.count - frameSize, by: frameSize) {
      // If the input says so, a frame of another generation ends the run.
      if wal[offset + 8] & 1 == 0 {
        wal.replaceSubrange(offset + 8..<offset + 16, with: headers[second + 32..<second + 40])
      }
      add(offset, 8)
      add(offset + FrameReader.frameHeaderSize, pageSize)
      put(sum.first, offset + 16)
      put(sum.second, offset + 20)
      frames += 1
    }
    withUnsafeBytes(of: frames) { headers.replaceSubrange(second + 16..<second + 20, with: $0) }
    withUnsafeBytes(of: (sum.first, sum.second)) { headers.replaceSubrange(second + 24..<second + 32, with: $0) }
  }
}
