package import LiveQuery
import Wire

/// A parameter of a published query or statement, whose value clients give.
package struct PublishedParameter: Sendable {
  package var name: String
  package var type: ParameterType
  /// Nil when clients must give a value.
  package var defaultValue: SQLValue?
  package var description: String?
}

/// The type of a parameter.
package enum ParameterType: String, CaseIterable, Sendable {
  case integer, real, text, boolean, blob, any
}

/// The values that a client gives.
enum PublishedArguments: Sendable {
  case values([String: SQLValue])
  /// From a URL: texts that are converted to the types that the parameters declare.
  case texts([(name: String, value: String)])

  init(_ parameters: Query.Parameters) throws(FreshetError) {
    switch parameters {
    case .named(let values): self = .values(values)
    case .positional:
      throw FreshetError(.badQuery, "the parameters of what is published have names: give an object")
    }
  }

  var isEmpty: Bool { names.isEmpty }

  private var names: [String] {
    switch self {
    case .values(let values): values.keys.sorted()
    case .texts(let texts): texts.map(\.name)
    }
  }

  private func value(of parameter: PublishedParameter) throws(FreshetError) -> SQLValue? {
    let wrong = FreshetError(.badQuery, "the parameter \(parameter.name) must be \(parameter.type.phrase)")
    switch self {
    case .values(let values):
      guard let value = values[parameter.name] else { return nil }
      if value == .null, parameter.defaultValue == .null { return value }
      guard let converted = parameter.type.converted(value) else { throw wrong }
      return converted
    case .texts(let texts):
      guard let text = texts.last(where: { $0.name == parameter.name })?.value else { return nil }
      guard let value = parameter.type.value(text: text) else { throw wrong }
      return value
    }
  }

  /// The value of each parameter.
  ///
  /// - Throws: `bad_query`, naming the parameter that is missing, unknown, or of another type.
  func values(
    for parameters: [PublishedParameter], of what: String
  ) throws(FreshetError) -> [String: SQLValue] {
    if let unknown = names.first(where: { name in !parameters.contains { $0.name == name } }) {
      throw FreshetError(.badQuery, "\(what) has no parameter \"\(unknown.prefix(64))\"")
    }
    var values: [String: SQLValue] = [:]
    for parameter in parameters {
      guard let value = try value(of: parameter) ?? parameter.defaultValue else {
        throw FreshetError(.badQuery, "the parameter \(parameter.name) is missing")
      }
      values[parameter.name] = value
    }
    return values
  }
}

extension ParameterType {
  fileprivate var phrase: String {
    switch self {
    case .integer: "an integer"
    case .real: "a number"
    case .text: "text"
    case .boolean: "true or false"
    case .blob: "a BLOB: {\"$blob\": \"base64\"}, in a URL base64"
    case .any: "a value"
    }
  }

  /// A value converted to this type; nil if it is of another type.
  func converted(_ value: SQLValue) -> SQLValue? {
    switch (self, value) {
    case (.any, _), (.integer, .integer), (.real, .real), (.text, .text), (.blob, .blob): return value
    case (.boolean, .integer(0...1)): return value
    case (.real, .integer(let integer)): return .real(Double(integer))
    // JavaScript has one kind of number.
    case (.integer, .real(let real)): return Int64(exactly: real).map { .integer($0) }
    default: return nil
    }
  }

  /// The value of a text in a URL; nil if it is not of this type.
  func value(text: String) -> SQLValue? {
    switch self {
    case .text: return .text(text)
    case .integer: return Int64(text).map { .integer($0) }
    case .real: return Double(text).flatMap { $0.isNaN ? nil : .real($0) }
    case .boolean: return ["true": 1, "1": 1, "false": 0, "0": 0][text].map { .integer($0) }
    case .blob: return Base64.decode(text).map { .blob($0) }
    case .any:
      if let integer = Int64(text) { return .integer(integer) }
      return Double(text).flatMap { $0.isFinite ? .real($0) : nil } ?? .text(text)
    }
  }
}
