/// The bytes of a file. Tests make their own.
package protocol ByteSource: AnyObject {
  /// Fills `count` bytes; beyond the file's end they are zero.
  ///
  /// - Returns: whether all of them are in the file.
  /// - Throws: `unreadable`.
  func read(into target: UnsafeMutableRawPointer, _ count: Int, at offset: Int) throws(Doubt) -> Bool

  /// Bytes of the file.
  func size() throws(Doubt) -> Int
}
