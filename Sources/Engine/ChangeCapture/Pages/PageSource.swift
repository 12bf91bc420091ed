/// The pages of one state of a database. Tests make their own.
package protocol PageSource: AnyObject {
  /// Bytes of a page that b-trees use: the rest is reserved.
  var usableSize: Int { get }

  /// A page, in `buffer` or in memory of the source's own; valid until the buffer is used again.
  ///
  /// - Throws: `unreadable`.
  func page(_ number: UInt32, _ buffer: ByteBuffer) throws(Doubt) -> UnsafeRawPointer

  /// A page that may be the one of the former state; nil when that one is certainly gone. Callers must compare it with
  /// the remembered hashes before they use it.
  func formerPage(_ number: UInt32, _ buffer: ByteBuffer) -> UnsafeRawPointer?
}
