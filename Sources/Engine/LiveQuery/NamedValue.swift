/// One of a result's `alongside` values.
package struct NamedValue: Hashable, Sendable {
  package var name: String
  package var value: SQLValue

  package init(name: String, value: SQLValue) {
    self.name = name
    self.value = value
  }
}
