/// A client's proof of its identity. It is secret, and prints as an empty text, so that it does not get into a log by
/// accident.
package struct AccessToken: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  package let text: String

  package init(_ text: String) { self.text = text }

  package var description: String { "(a token)" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: []) }
}
