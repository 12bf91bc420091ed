import LiveQuery
import Store

/// Gives every parameter of a query's fragments a number, and collects the values in that order.
struct ParameterNumbering {
  private let parameters: Query.Parameters
  private(set) var values: [SQLValue] = []
  private var numbers: [String: Int] = [:]
  private var nextPosition = 0

  init(_ parameters: Query.Parameters) {
    self.parameters = parameters
    if case .positional(let values) = parameters { self.values = values }
  }

  /// Of the parameters in order; nil when they were given by position.
  var names: [String]? {
    guard case .named = parameters else { return nil }
    return numbers.sorted { $0.value < $1.value }.map(\.key)
  }

  /// What to write in place of a parameter token.
  ///
  /// - Throws: `bad_query` when no value was given for it.
  mutating func replacement(for token: String) throws(FreshetError) -> String {
    token.hasPrefix("?") ? try positional(token) : try named(token)
  }

  private mutating func positional(_ token: String) throws(FreshetError) -> String {
    guard case .positional = parameters else { throw .badQuery("the parameter \(token) needs params to be an array") }
    let number: Int
    if token == "?" {
      nextPosition += 1
      number = nextPosition
    } else {
      number = Int(token.dropFirst()) ?? 0
      nextPosition = max(nextPosition, number)
    }
    guard number > 0, number <= values.count else {
      throw .badQuery("the parameter \(token == "?" ? "number \(number)" : token) has no value in params")
    }
    return "?\(number)"
  }

  private mutating func named(_ token: String) throws(FreshetError) -> String {
    let name = String(token.dropFirst())
    guard case .named(let named) = parameters, let value = named[name] else {
      throw .badQuery("the parameter \(token) has no value in params")
    }
    if let number = numbers[name] { return "?\(number)" }
    values.append(value)
    numbers[name] = values.count
    return "?\(values.count)"
  }

  /// - Throws: `bad_query` when a value was given that no fragment uses: a misspelt name, most likely.
  func checkAllUsed() throws(FreshetError) {
    switch parameters {
    case .none: return
    case .positional(let values) where values.count > nextPosition:
      throw .badQuery("params has \(values.count) values, the query uses \(nextPosition)")
    case .positional: return
    case .named(let named):
      if let unused = named.keys.filter({ numbers[$0] == nil }).min() {
        throw .badQuery("params.\(unused) is used nowhere in the query")
      }
    }
  }
}
