/// A dictionary that usually has one element, which it holds without storage of its own.
package struct SmallDictionary<Key: Hashable, Value> {
  private var first: (key: Key, value: Value)?
  private var others: [Key: Value] = [:]

  package init() {}

  package var isEmpty: Bool { first == nil && others.isEmpty }
  package var count: Int { (first == nil ? 0 : 1) + others.count }

  /// All elements, in no particular order. O(n).
  package var all: [(key: Key, value: Value)] {
    (first.map { [$0] } ?? []) + others.map { ($0.key, $0.value) }
  }

  /// O(1) expected.
  package subscript(key: Key) -> Value? {
    get { if let first, first.key == key { first.value } else { others[key] } }
    set {
      if first?.key == key {
        first = newValue.map { (key, $0) }
      } else if first == nil, let newValue, others[key] == nil {
        first = (key, newValue)
      } else {
        others[key] = newValue
      }
    }
  }
}
