import LiveQuery
import Store

/// Numbers every parameter of a query's fragments, and of the filters on its tables.
struct ParameterNumbering {
  private let parameters: Query.Parameters
  private let claims: [String]
  private var numbers: [String: Int] = [:]
  private var nextPosition = 0
  /// The number of values that were given by position. They have the first numbers.
  private let positionCount: Int
  private(set) var count: Int

  init(_ query: Query) throws(FreshetError) {
    parameters = query.parameters
    claims = query.access.read
    switch parameters {
    case .positional(let values): positionCount = values.count
    case .named(let named):
      positionCount = 0
      if let claim = named.keys.filter({ Query.Access.isClaim($0) }).min() {
        throw .badQuery("params.\(claim): parameters of this name are claims of the token")
      }
    }
    count = positionCount
  }

  /// The names of the parameters `?1`, `?2`, …; nil for parameters given by position.
  var names: [String?] {
    [String?](repeating: nil, count: positionCount) + numbers.sorted { $0.value < $1.value }.map(\.key)
  }

  /// The text that replaces a parameter token.
  ///
  /// - Throws: `bad_query` if no value was given for the parameter.
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
    guard number > 0, number <= positionCount else {
      throw .badQuery("the parameter \(token == "?" ? "number \(number)" : token) has no value in params")
    }
    return "?\(number)"
  }

  private mutating func named(_ token: String) throws(FreshetError) -> String {
    let name = String(token.dropFirst())
    if let number = numbers[name] { return "?\(number)" }
    if Query.Access.isClaim(name) {
      // The claims that a query reads are determined before it is compiled, and a view may have changed since then.
      if !claims.contains(name) { throw FreshetError(.schemaChanged, "a view has changed: ask again") }
    } else {
      guard case .named(let named) = parameters, named[name] != nil else {
        throw .badQuery("the parameter \(token) has no value in params")
      }
    }
    count += 1
    numbers[name] = count
    return "?\(count)"
  }

  /// - Throws: `bad_query` if a value was given that no fragment uses, which is probably a misspelled name.
  func checkAllUsed() throws(FreshetError) {
    switch parameters {
    case .positional where positionCount > nextPosition:
      throw .badQuery("params has \(positionCount) values, the query uses \(nextPosition)")
    case .positional: return
    case .named(let named):
      if let unused = named.keys.filter({ numbers[$0] == nil }).min() {
        throw .badQuery("params.\(unused) is used nowhere in the query")
      }
    }
  }
}
