/// The pages of one state of a database. Tests have sources of their own.
package protocol PageSource: AnyObject {
  /// The number of bytes of a page that b-trees use; the rest is reserved.
  var usableSize: Int { get }

  /// The image of a page, in `buffer` or in memory of the source. Valid until the buffer is used again.
  ///
  /// - Throws: `unreadable`.
  func page(_ number: UInt32, _ buffer: ByteBuffer) throws(Doubt) -> UnsafeRawPointer

  /// An image that may be the page's former one; nil if the former image is certainly gone. Callers must check it
  /// against the remembered hashes before they use it.
  func formerPage(_ number: UInt32, _ buffer: ByteBuffer) -> UnsafeRawPointer?
}
