import Foundation

@testable import ChangeCapture

/// Pages made of an input.
final class MemoryPages: PageSource {
  static let size = 512
  let pageSize = MemoryPages.size
  let usableSize: Int
  var pages: [UInt32: [UInt8]] = [:]
  /// The state before.
  var former: [UInt32: [UInt8]] = [:]

  init(usableSize: Int) { self.usableSize = usableSize }

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

/// A file made of an input.
final class MemoryBytes: ByteSource {
  var bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  func read(into target: UnsafeMutableRawPointer, _ count: Int, at offset: Int) throws(Doubt) -> Bool {
    let available = max(0, min(count, bytes.count - offset))
    memset(target, 0, count)
    bytes.withUnsafeBytes { if available > 0 { memcpy(target, $0.baseAddress! + offset, available) } }
    return available == count
  }

  func size() throws(Doubt) -> Int { bytes.count }
}
