/// A message that does not fit what the client holds, or that no server of this protocol sends.
package struct LiveClientError: Error, Equatable, CustomStringConvertible {
  /// One sentence for people.
  package let description: String

  package init(_ description: String) { self.description = description }
}

/// Throws the sentence unless the condition holds.
func require(_ condition: Bool, _ sentence: @autoclosure () -> String) throws(LiveClientError) {
  if !condition { throw LiveClientError(sentence()) }
}
