/// A total, or a value alongside a result.
package struct NamedValue: Hashable, Sendable {
  package var name: String
  package var value: SQLValue
  /// SQLite's message if the value cannot be computed; it is NULL then.
  package var error: String?

  package init(name: String, value: SQLValue, error: String? = nil) {
    self.name = name
    self.value = value
    self.error = error
  }
}
