import Foundation

@testable import ChangeCapture

/// A file in memory.
final class MemoryBytes: ByteSource {
  var bytes: [UInt8]

  init(_ bytes: [UInt8] = []) { self.bytes = bytes }

  func read(into target: UnsafeMutableRawPointer, _ count: Int, at offset: Int) throws(Doubt) -> Bool {
    let available = max(0, min(count, bytes.count - offset))
    memset(target, 0, count)
    bytes.withUnsafeBytes { if available > 0 { memcpy(target, $0.baseAddress! + offset, available) } }
    return available == count
  }

  func size() throws(Doubt) -> Int { bytes.count }
}

/// Pages in memory, and the pages of the state before.
final class MemoryPages: PageSource {
  let pageSize: Int
  let usableSize: Int
  var pages: [UInt32: [UInt8]]
  var former: [UInt32: [UInt8]] = [:]

  init(pageSize: Int = 512, usableSize: Int? = nil, _ pages: [UInt32: [UInt8]] = [:]) {
    self.pageSize = pageSize
    self.usableSize = usableSize ?? pageSize
    self.pages = pages
  }

  func page(_ number: UInt32, _ buffer: ByteBuffer) throws(Doubt) -> UnsafeRawPointer {
    guard let page = pages[number] else { throw Doubt(.page) }
    return copy(page, buffer)
  }

  func formerPage(_ number: UInt32, _ buffer: ByteBuffer) -> UnsafeRawPointer? {
    (former[number] ?? pages[number]).map { copy($0, buffer) }
  }

  private func copy(_ page: [UInt8], _ buffer: ByteBuffer) -> UnsafeRawPointer {
    buffer.resize(to: pageSize)
    page.withUnsafeBytes { _ = memcpy(buffer.start, $0.baseAddress!, pageSize) }
    return UnsafeRawPointer(buffer.start)
  }
}

/// Pages made by hand: https://sqlite.org/fileformat2.html#b_tree_pages.
enum HandMade {
  static func bigEndian(_ number: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
  }

  private static func page(_ type: UInt8, _ cells: [[UInt8]], right: UInt32? = nil, size: Int) -> [UInt8] {
    var page = [UInt8](repeating: 0, count: size)
    page[0] = type
    page[4] = UInt8(cells.count)
    if let right { page.replaceSubrange(8..<12, with: bigEndian(right)) }
    var end = size
    for (index, cell) in cells.enumerated() {
      end -= cell.count
      page.replaceSubrange(end..<end + cell.count, with: cell)
      let pointer = (right == nil ? 8 : 12) + 2 * index
      page[pointer] = UInt8(end >> 8)
      page[pointer + 1] = UInt8(end & 255)
    }
    return page
  }

  /// Rows of one text each; of rowids below 128, and short.
  static func leaf(_ rows: [(rowid: UInt8, text: String)], size: Int = 512) -> [UInt8] {
    page(
      0x0D,
      rows.map { row in
        let text = Array(row.text.utf8)
        return [UInt8(text.count + 2), row.rowid, 2, UInt8(text.count * 2 + 13)] + text
      }, size: size)
  }

  /// Children with the greatest rowid of each; the last has none.
  static func interior(_ children: [UInt32], size: Int = 512) -> [UInt8] {
    page(
      0x05, children.dropLast().enumerated().map { bigEndian($1) + [UInt8($0 + 1)] }, right: children.last ?? 0,
      size: size)
  }

  /// A leaf with one row, whose payload of `total` bytes continues on the page `first`.
  static func leafWithOverflow(total: Int, first: UInt32, size: Int = 512) -> [UInt8] {
    let least = (size - 12) * 32 / 255 - 23
    let local = least + (total - least) % (size - 4)
    let kept = local <= size - 35 ? local : least
    var cell: [UInt8] = [UInt8(0x80 | total >> 7), UInt8(total & 127), 1, 3]
    let serial = (total - 3) * 2 + 12
    cell += [UInt8(0x80 | serial >> 7), UInt8(serial & 127)]
    cell += [UInt8](repeating: 7, count: kept - 3)
    return page(0x0D, [cell + bigEndian(first)], size: size)
  }

  static func overflow(next: UInt32, _ fill: UInt8, size: Int = 512) -> [UInt8] {
    bigEndian(next) + [UInt8](repeating: fill, count: size - 4)
  }
}

/// A WAL made by hand, and the WAL-index headers that go with it: https://sqlite.org/walformat.html.
struct HandMadeWAL {
  let pageSize: Int
  let isBigEndian: Bool
  private(set) var generation: UInt32
  let file = MemoryBytes()
  private(set) var frameCount: UInt32 = 0
  private(set) var changes: UInt32
  private(set) var checksum = WALChecksum(0, 0)

  init(pageSize: Int = 512, isBigEndian: Bool = false, generation: UInt32 = 100, changes: UInt32 = 10) {
    self.pageSize = pageSize
    self.isBigEndian = isBigEndian
    self.generation = generation
    self.changes = changes
    begin()
  }

  private var salts: [UInt8] { HandMade.bigEndian(generation) + HandMade.bigEndian(generation &* 7919) }

  private mutating func begin() {
    var header = HandMade.bigEndian(isBigEndian ? 0x377F_0683 : 0x377F_0682) + HandMade.bigEndian(3_007_000)
    header += HandMade.bigEndian(UInt32(pageSize)) + HandMade.bigEndian(0) + salts
    checksum = WALChecksum(0, 0)
    add(header)
    write(header + HandMade.bigEndian(checksum.first) + HandMade.bigEndian(checksum.second), at: 0)
    frameCount = 0
  }

  /// The WAL starts over from the beginning of the file.
  mutating func restart(by step: UInt32 = 1) {
    generation += step
    begin()
  }

  /// Adds to the checksum byte by byte, independently of the tested code.
  private mutating func add(_ bytes: [UInt8]) {
    func word(_ offset: Int) -> UInt32 {
      let bytes = bytes[offset..<offset + 4]
      return (isBigEndian ? Array(bytes) : bytes.reversed()).reduce(0) { $0 << 8 | UInt32($1) }
    }
    for offset in stride(from: 0, to: bytes.count, by: 8) {
      checksum.first &+= word(offset) &+ checksum.second
      checksum.second &+= word(offset + 4) &+ checksum.first
    }
  }

  private func write(_ bytes: [UInt8], at offset: Int) {
    if file.bytes.count < offset + bytes.count {
      file.bytes += [UInt8](repeating: 0, count: offset + bytes.count - file.bytes.count)
    }
    file.bytes.replaceSubrange(offset..<offset + bytes.count, with: bytes)
  }

  /// The offset at which a frame begins.
  func offset(_ frame: UInt32) -> Int { 32 + (Int(frame) - 1) * (pageSize + 24) }

  mutating func frame(_ page: UInt32, _ fill: UInt8, commits: Bool) {
    let start = HandMade.bigEndian(page) + HandMade.bigEndian(commits ? 9 : 0)
    let image = [UInt8](repeating: fill, count: pageSize)
    add(start)
    add(image)
    frameCount += 1
    write(
      start + salts + HandMade.bigEndian(checksum.first) + HandMade.bigEndian(checksum.second) + image,
      at: offset(frameCount))
  }

  mutating func commit(_ pages: UInt32..., fill: UInt8 = 1) {
    for page in pages { frame(page, fill, commits: page == pages.last) }
    changes += 1
  }

  /// Counts changes that were not written.
  mutating func lose(_ commits: UInt32) { changes &+= commits }

  /// One copy of the WAL-index header.
  func headerBytes(isInitialized: Bool = true, pageSize: Int? = nil, version: UInt32 = 3_007_000) -> [UInt8] {
    func native<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] { withUnsafeBytes(of: number) { Array($0) } }
    let size = pageSize ?? self.pageSize
    var bytes = native(version) + native(UInt32(0)) + native(changes) + [isInitialized ? 1 : 0, isBigEndian ? 1 : 0]
    bytes += native(UInt16(size & 0xFE00 | size >> 16)) + native(frameCount) + native(UInt32(9))
    bytes += native(checksum.first) + native(checksum.second) + salts
    var sum = WALChecksum(0, 0)
    bytes.withUnsafeBytes { sum.add($0.baseAddress!, 40, isNative: true) }
    return bytes + native(sum.first) + native(sum.second)
  }

  var header: WALIndexHeader { headerBytes().withUnsafeBytes { WALIndexHeader($0.baseAddress!) } }
}
