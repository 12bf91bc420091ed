/// The bytes of a file. Tests have sources of their own.
package protocol ByteSource: AnyObject {
  /// Reads `count` bytes. Bytes beyond the file's end are zero.
  ///
  /// - Returns: whether all of them are in the file.
  /// - Throws: `unreadable`.
  func read(into target: UnsafeMutableRawPointer, _ count: Int, at offset: Int) throws(Doubt) -> Bool

  /// The size of the file, in bytes.
  func size() throws(Doubt) -> Int
}
