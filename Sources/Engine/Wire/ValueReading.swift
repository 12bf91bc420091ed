package import LiveQuery

extension FreshetError {
  static func badMessage(_ message: String) -> FreshetError { FreshetError(.badMessage, message) }
  static func badQuery(_ message: String) -> FreshetError { FreshetError(.badQuery, message) }
}

extension SQLValue {
  /// Reads a parameter or key in the form in which clients write it: a JSON scalar, `{"$int": "…"}` or `{"$blob":
  /// "<base64>"}`.
  ///
  /// - Throws: `bad_message`, with `what` as the name of the place.
  package init(json: JSONValue, what: String) throws(FreshetError) {
    switch json {
    case .null: self = .null
    case .bool(let value): self = .integer(value ? 1 : 0)
    case .integer(let value): self = .integer(value)
    case .real(let value): self = .real(value)
    case .string(let value): self = .text(value)
    case .object(let members) where members.count == 1:
      if case .string(let digits)? = members["$int"], let value = Int64(digits) {
        self = .integer(value)
      } else if case .string(let text)? = members["$blob"], let bytes = Base64.decode(text) {
        self = .blob(bytes)
      } else {
        throw .badMessage("\(what) must be a scalar, {\"$int\": \"digits\"} or {\"$blob\": \"base64\"}")
      }
    case .array, .object:
      throw .badMessage("\(what) must be a scalar, {\"$int\": \"digits\"} or {\"$blob\": \"base64\"}")
    }
  }
}

extension Query.Parameters {
  /// - Throws: `bad_message`.
  package init(json: JSONValue?) throws(FreshetError) {
    switch json {
    case nil, .null: self = .none
    case .array(let values):
      var list: [SQLValue] = []
      for (index, value) in values.enumerated() { list.append(try SQLValue(json: value, what: "params[\(index)]")) }
      self = .positional(list)
    case .object(let members):
      var named: [String: SQLValue] = [:]
      for (name, value) in members { named[name] = try SQLValue(json: value, what: "params.\(name)") }
      self = .named(named)
    case .some(let other): throw .badMessage("params must be an object or an array, not \(other.kind)")
    }
  }
}

/// Typed access to the members of one JSON object, with errors that name the place.
struct MemberReader {
  let members: [String: JSONValue]
  /// The text before a member's name in messages: "query." or "".
  let prefix: String

  func string(_ name: String) throws(FreshetError) -> String? {
    switch members[name] {
    case nil, .null: return nil
    case .string(let value): return value
    case .some(let other): throw .badMessage("\(prefix)\(name) must be a string, not \(other.kind)")
    }
  }

  func required(_ name: String) throws(FreshetError) -> String {
    guard let value = try string(name) else { throw .badMessage("\(prefix)\(name) is missing") }
    return value
  }

  /// A whole number that is not negative, and small enough to count with.
  func count(_ name: String) throws(FreshetError) -> Int? {
    switch members[name] {
    case nil, .null: return nil
    case .integer(let value) where value >= 0 && value <= 1 << 53: return Int(value)
    // JavaScript has only one kind of number, so 50.0 means 50.
    case .real(let value) where value >= 0 && value <= 0x1p53 && value.rounded() == value: return Int(value)
    case .some: throw .badMessage("\(prefix)\(name) must be a whole number from 0 up")
    }
  }

  /// A number of seconds, at least one.
  func seconds(_ name: String) throws(FreshetError) -> Duration? {
    switch members[name] {
    case nil, .null: return nil
    case .integer(let value) where (1...86_400 * 365).contains(value): return .seconds(value)
    case .real(let value) where value >= 1 && value <= 86_400 * 365: return .milliseconds(Int(value * 1_000))
    case .some: throw .badQuery("\(prefix)\(name) must be a number of seconds from 1 up")
    }
  }

  /// A list of strings. A single string stands for a list with one element.
  func strings(_ name: String) throws(FreshetError) -> [String] {
    switch members[name] {
    case nil, .null: return []
    case .string(let value): return [value]
    case .array(let values):
      var list: [String] = []
      for value in values {
        guard case .string(let text) = value else {
          throw .badMessage("\(prefix)\(name) must be a list of strings, not of \(value.kind)")
        }
        list.append(text)
      }
      return list
    case .some(let other): throw .badMessage("\(prefix)\(name) must be a list of strings, not \(other.kind)")
    }
  }

  func object(_ name: String) throws(FreshetError) -> [String: JSONValue]? {
    switch members[name] {
    case nil, .null: return nil
    case .object(let value): return value
    case .some(let other): throw .badMessage("\(prefix)\(name) must be an object, not \(other.kind)")
    }
  }
}
