/// The pages of one state of a database. Tests make their own.
package protocol PageSource: AnyObject {
  /// Bytes of a page that b-trees use: the rest is reserved.
  var usableSize: Int { get }

  /// A page, in `buffer` or in memory of the source's own; valid until the buffer is used again.
  ///
  /// - Throws: `unreadable`.
  func page(_ number: UInt32, _ buffer: ByteBuffer) throws(Doubt) -> UnsafeRawPointer

  /// What may be the page as it was in the state before; nil when it is certainly gone. Whoever asks compares it with
  /// the hashes that are remembered of it before using anything of it.
  func formerPage(_ number: UInt32, _ buffer: ByteBuffer) -> UnsafeRawPointer?
}
