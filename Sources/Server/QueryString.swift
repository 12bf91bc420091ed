import LiveQuery
import Wire

/// The parameters of a URL, decoded: `+` and `%20` are spaces, as forms write them.
struct QueryString {
  /// In the order given.
  let items: [(name: String, value: String)]

  init(_ text: String) {
    items = text.split(separator: "&").map { part in
      let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      return (QueryString.decode(pair[0]), pair.count > 1 ? QueryString.decode(pair[1]) : "")
    }
  }

  private static func decode(_ text: Substring) -> String {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "+") {
        bytes.append(UInt8(ascii: " "))
      } else if byte == UInt8(ascii: "%"), rest.count >= 2,
        let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
      {
        bytes.append(value)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// What is asked of `/v1/snapshot`.
struct SnapshotParameters {
  var query: Query
  var window: Window
  var shape: Shape

  static let defaultLimit = 100

  /// From a URL: protocol 4.
  ///
  /// - Throws: `bad_query` for a parameter that there is not.
  init(_ string: QueryString) throws(FreshetError) {
    var members: [String: JSONValue] = [:]
    var named: [String: JSONValue] = [:]
    var offset = 0
    var limit = SnapshotParameters.defaultLimit
    var shape = Shape.objects
    var whole: JSONValue?
    for (name, value) in string.items {
      switch name {
      case "from", "where", "having", "sectionBy": members[name] = .string(value)
      case "select", "orderBy", "groupBy", "key": members[name] = .array(SnapshotParameters.list(value))
      case "top": members["limit"] = .integer(Int64(try SnapshotParameters.count(value, name)))
      case "offset": offset = try SnapshotParameters.count(value, name)
      case "limit": limit = try SnapshotParameters.count(value, name)
      case "shape": shape = try Shape(json: .string(value)) ?? .objects
      case "query": whole = try JSONValue(body: Array(value.utf8), what: "query")
      case _ where name.hasPrefix("param."): named[String(name.dropFirst(6))] = SnapshotParameters.scalar(value)
      default: throw FreshetError(.badQuery, "there is no parameter \"\(name.prefix(64))\"")
      }
    }
    if !named.isEmpty { members["params"] = .object(named) }
    if whole != nil, !members.isEmpty { throw FreshetError(.badQuery, "give either query or its parts") }
    query = try Query(json: whole ?? .object(members))
    window = Window(offset: offset, limit: limit)
    self.shape = shape
  }

  /// From the body of a POST.
  init(body: [UInt8]) throws(FreshetError) {
    guard case .object(let members) = try JSONValue(body: body), let query = members["query"] else {
      throw FreshetError(.badMessage, "the body must be an object with the member query")
    }
    self.query = try Query(json: query)
    window = try Window(json: members["window"]) ?? Window(offset: 0, limit: SnapshotParameters.defaultLimit)
    shape = try Shape(json: members["shape"]) ?? .objects
  }

  private static func count(_ text: String, _ name: String) throws(FreshetError) -> Int {
    guard let value = Int(text), value >= 0, value <= 1 << 53 else {
      throw FreshetError(.badQuery, "\(name) must be a whole number from 0 up")
    }
    return value
  }

  /// A number when it is written as one, else text: SQLite's affinities make the rest right.
  private static func scalar(_ text: String) -> JSONValue {
    switch try? JSONParser.parse(text) {
    case .some(.integer(let value)): .integer(value)
    case .some(.real(let value)): .real(value)
    default: .string(text)
    }
  }

  /// Cut at the commas outside of parentheses and quotes.
  private static func list(_ text: String) -> [JSONValue] {
    var parts: [String] = [""]
    var depth = 0
    var quote: Unicode.Scalar?
    // By scalar: a quote that a combining mark follows is still a quote to SQLite.
    for character in text.unicodeScalars {
      if let open = quote {
        if character == open { quote = nil }
      } else if "'\"`[".unicodeScalars.contains(character) {
        quote = character == "[" ? "]" : character
      } else if character == "(" {
        depth += 1
      } else if character == ")" {
        depth -= 1
      } else if character == ",", depth == 0 {
        parts.append("")
        continue
      }
      parts[parts.count - 1].unicodeScalars.append(character)
    }
    return parts.map { .string($0) }
  }
}

extension JSONValue {
  /// - Throws: `bad_message`, with `what` naming the place.
  init(body: [UInt8], what: String = "the body") throws(FreshetError) {
    do throws(JSONError) { self = try JSONParser.parse(body) } catch {
      throw FreshetError(.badMessage, "\(what) is not JSON: \(error.message), at byte \(error.offset)")
    }
  }
}
