import LiveQuery
import Wire

/// The parameters of a request for a result: protocol 4.
struct RequestParameters {
  /// The kind of request, which decides which parameters are allowed.
  enum Purpose: Equatable {
    case snapshot, subscription, explanation
    /// The snapshot of a published query that the path names.
    case published(String)
  }

  enum Source {
    case adHoc(Query)
    case published(name: String, PublishedArguments)

    /// See `QuerySource.none`.
    static let none = Source.published(name: "", .texts([]))
  }

  var source: Source
  var window = Window(offset: 0, limit: RequestParameters.defaultLimit)
  var shape = Shape.objects
  /// Nil: the snapshot as JSON.
  var table: TableFormat?
  /// How long to wait for a version that the client does not have.
  var wait = Duration.zero
  /// The least time between two patches.
  var minInterval = Duration.zero
  /// The version that the client has.
  var since: String?

  static let defaultLimit = 100
  private static let longestWait = 60

  /// From a URL.
  ///
  /// - Throws: `bad_query` for an unknown parameter.
  init(_ string: QueryString, for purpose: Purpose) throws(FreshetError) {
    var parts = QueryParts()
    if case .published(let name) = purpose { parts.name = name }
    source = .none
    var limit: Int?
    for (name, value) in string.items {
      switch (name, purpose) {
      case ("offset", _): window.offset = try RequestParameters.count(value, name)
      case ("limit", _): limit = try RequestParameters.count(value, name)
      case ("format", .snapshot), ("format", .published): table = try RequestParameters.format(value)
      case ("shape", _): shape = try Shape(json: .string(value)) ?? .objects
      case ("wait", .snapshot), ("wait", .published): wait = try RequestParameters.seconds(value, name)
      case ("minInterval", .subscription): minInterval = .milliseconds(try RequestParameters.count(value, name))
      case ("lastEventId", .subscription): since = value.isEmpty ? nil : value
      default:
        if try parts.take(name, value, purpose) { continue }
        throw FreshetError(.badQuery, "there is no parameter \"\(name.prefix(64))\"")
      }
    }
    source = try parts.source()
    // Exported tables are complete: no limit by default.
    window.limit = limit ?? (table == nil ? RequestParameters.defaultLimit : RequestParameters.mostRows)
  }

  private static let mostRows = 1 << 53

  private static func format(_ text: String) throws(FreshetError) -> TableFormat? {
    if text == "json" { return nil }
    if let format = TableFormat(rawValue: text) { return format }
    throw FreshetError(.badQuery, "format must be json, csv or ndjson")
  }

  /// From the body of a POST.
  init(body: [UInt8]) throws(FreshetError) {
    guard case .object(let members) = try JSONValue(body: body), let query = members["query"] else {
      throw FreshetError(.badMessage, "the body must be an object with the member query")
    }
    source = try Source(json: query)
    window = try Window(json: members["window"]) ?? window
    shape = try Shape(json: members["shape"]) ?? shape
  }

  private static func count(_ text: String, _ name: String) throws(FreshetError) -> Int {
    guard let value = Int(text), value >= 0, value <= mostRows else {
      throw FreshetError(.badQuery, "\(name) must be a whole number from 0 up")
    }
    return value
  }

  private static func seconds(_ text: String, _ name: String) throws(FreshetError) -> Duration {
    guard let value = Double(text), value >= 0, value <= Double(longestWait) else {
      throw FreshetError(.badQuery, "\(name) must be a number of seconds from 0 to \(longestWait)")
    }
    return .milliseconds(Int(value * 1_000))
  }
}

extension RequestParameters.Source {
  /// A query, or the name of a published one.
  init(json: JSONValue) throws(FreshetError) { try self.init(try QuerySource(json: json)) }

  init(_ source: QuerySource) throws(FreshetError) {
    switch source {
    case .adHoc(let query): self = .adHoc(query)
    case .published(let name, let parameters): self = .published(name: name, try .init(parameters))
    }
  }
}

/// The parts of a query, or the name and parameters of a published one, as they come in a URL.
private struct QueryParts {
  var name: String?
  private var members: [String: JSONValue] = [:]
  private var parameters: [(name: String, value: String)] = []
  private var whole: JSONValue?

  /// - Returns: false when there is no such part.
  mutating func take(
    _ name: String, _ value: String, _ purpose: RequestParameters.Purpose
  ) throws(FreshetError) -> Bool {
    if name.hasPrefix("param.") {
      parameters.append((String(name.dropFirst("param.".count)), value))
      return true
    }
    if case .published = purpose { return false }
    switch name {
    case "name": self.name = value
    case "sql", "from", "where", "having", "sectionBy": members[name] = .string(value)
    case "select", "orderBy", "groupBy", "key": members[name] = .array(value.topLevelParts.map { .string($0) })
    case "totals": members[name] = try JSONValue(body: Array(value.utf8), what: name)
    case "top":
      guard let limit = Int64(value) else { throw FreshetError(.badQuery, "top must be a whole number from 0 up") }
      members["limit"] = .integer(limit)
    case "query": whole = try JSONValue(body: Array(value.utf8), what: "query")
    default: return false
    }
    return true
  }

  func source() throws(FreshetError) -> RequestParameters.Source {
    if let name {
      guard members.isEmpty, whole == nil else {
        throw FreshetError(.badQuery, "give either the name of a published query or a query")
      }
      return .published(name: name, .texts(parameters))
    }
    guard let whole else {
      if members.isEmpty { return .published(name: "", .texts(parameters)) }
      var members = members
      if !parameters.isEmpty {
        var named: [String: JSONValue] = [:]
        for (name, value) in parameters { named[name] = JSONValue(scalar: value) }
        members["params"] = .object(named)
      }
      return .adHoc(try Query(json: .object(members)))
    }
    guard members.isEmpty, parameters.isEmpty else {
      throw FreshetError(.badQuery, "give either query or its parts")
    }
    return try .init(json: whole)
  }
}

extension JSONValue {
  /// A number if it is written as one, otherwise text: SQLite's affinities convert the others.
  fileprivate init(scalar text: String) {
    switch try? JSONParser.parse(text) {
    case .some(.integer(let value)): self = .integer(value)
    case .some(.real(let value)): self = .real(value)
    default: self = .string(text)
    }
  }
}
