/// The memory of one b-tree page: its links, and its packed rows.
///
/// A row is `rowid or key | hash | remembered fields`. The rowid is stored as the difference from the previous row; the
/// key and the fields follow their lengths; the fields are there only if the layout has remembered fields. A page is
/// one allocation, because a table has thousands of pages, and the bytes per row limit the size of tables that can be
/// followed.
final class SummaryNode: ManagedBuffer<SummaryNode.Header, UInt8> {
  enum Kind: UInt8 {
    /// The page belongs to the tree but was not read yet.
    case unread
    case leaf
    case interior
  }

  /// Links that only some pages have.
  final class Links {
    var children: [UInt32] = []
    /// First pages of overflow chains.
    var chains: [UInt32] = []
  }

  struct Header {
    var parent: UInt32
    var rowCount: UInt32 = 0
    /// The number of bytes of the packed rows, or of the page's hash.
    var length: UInt32 = 0
    var kind: Kind
    var links: Links?
  }

  static func make(
    _ kind: Kind, parent: UInt32, rowCount: Int = 0, links: Links? = nil, _ bytes: UnsafeRawBufferPointer
  )
    -> SummaryNode
  {
    let node = SummaryNode.create(minimumCapacity: bytes.count) { _ in
      Header(
        parent: parent, rowCount: UInt32(rowCount), length: UInt32(bytes.count), kind: kind, links: links)
    }
    if let source = bytes.baseAddress {
      node.withUnsafeMutablePointerToElements {
        UnsafeMutableRawPointer($0).copyMemory(from: source, byteCount: bytes.count)
      }
    }
    return unsafeDowncast(node, to: SummaryNode.self)
  }

  static func unread(parent: UInt32) -> SummaryNode {
    make(.unread, parent: parent, UnsafeRawBufferPointer(start: nil, count: 0))
  }

  var parent: UInt32 {
    get { withHeader { $0.pointee.parent } }
    set { withHeader { $0.pointee.parent = newValue } }
  }
  var kind: Kind { withHeader { $0.pointee.kind } }
  var rowCount: Int { withHeader { Int($0.pointee.rowCount) } }
  var children: [UInt32] { withHeader { $0.pointee.links?.children } ?? [] }
  var chains: [UInt32] { withHeader { $0.pointee.links?.chains } ?? [] }

  /// The header, without the check for overlapping accesses. It is read through a pointer, because another thread may
  /// be encoding the node while its parent changes.
  @inline(__always)
  private func withHeader<Result>(_ body: (UnsafeMutablePointer<Header>) -> Result) -> Result {
    withUnsafeMutablePointerToHeader { body($0) }
  }

  /// The packed rows. Valid as long as the node is held.
  @inline(__always)
  var bytes: UnsafeRawBufferPointer {
    withUnsafeMutablePointers { header, elements in
      UnsafeRawBufferPointer(start: elements, count: Int(header.pointee.length))
    }
  }

  func hasSameRows(as other: SummaryNode) -> Bool {
    rowCount == other.rowCount && bytes.hasSameBytes(as: other.bytes)
  }

  /// The approximate memory of the node, including its entry in the table of pages.
  var byteCount: Int {
    let links = withHeader { $0.pointee.links.map { 96 + 4 * ($0.children.count + $0.chains.count) } } ?? 0
    return (16 + MemoryLayout<Header>.size + bytes.count + 23) & ~15 + 26 + links
  }
}
