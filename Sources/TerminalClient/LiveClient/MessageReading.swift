import LiveQuery
import Wire

/// Reading what a server sent: what is missing or of another type is thrown.
extension JSONValue {
  func required(_ name: String) throws(LiveClientError) -> JSONValue {
    guard let value = self[name] else { throw LiveClientError("a message without the member \(name)") }
    return value
  }

  /// The elements of a list member; none when it is absent.
  func list(_ name: String) throws(LiveClientError) -> [JSONValue] {
    guard let value = self[name] else { return [] }
    return try value.elements()
  }

  func elements(atLeast count: Int = 0) throws(LiveClientError) -> [JSONValue] {
    guard case .array(let elements) = self, elements.count >= count else {
      throw LiveClientError("\(kind) where a list of \(count) or more should be")
    }
    return elements
  }

  /// A whole number from 0 up.
  func count() throws(LiveClientError) -> Int {
    guard case .integer(let value) = self, value >= 0 else { throw LiveClientError("\(kind) where a count should be") }
    return Int(value)
  }

  func text() throws(LiveClientError) -> String {
    guard case .string(let value) = self else { throw LiveClientError("\(kind) where a string should be") }
    return value
  }

  func members() throws(LiveClientError) -> [String: JSONValue] {
    guard case .object(let value) = self else { throw LiveClientError("\(kind) where an object should be") }
    return value
  }

  /// `[section, item]`.
  func path() throws(LiveClientError) -> IndexPath {
    let pair = try elements(atLeast: 2)
    return IndexPath(section: try pair[0].count(), item: try pair[1].count())
  }

  /// The member `window`, if there is one.
  func window() throws(LiveClientError) -> Window? {
    guard let window = self["window"], window != .null else { return nil }
    return Window(offset: try window.required("offset").count(), limit: try window.required("limit").count())
  }
}
