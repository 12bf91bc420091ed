package import LiveQuery

/// A client's message, most often about one subscription: protocol 3.1.
package enum ClientMessage: Sendable {
  case subscribe(Subscribe)
  case changes(ChangesRequest, since: String?)
  case window(Window)
  case fetch(Window)
  /// Requests the place of the row with a key, which has a value for each of its columns.
  case locate([SQLValue])
  case requery(QuerySource, Window?)
  case resync
  case unsubscribe
  /// - Parameter once: the transaction's name, if it may be repeated.
  case transact(TransactionSource, once: String?)
  /// Concerns no subscription. Its id is only that of this message.
  case ping
  /// Concerns no subscription either.
  case authenticate(AccessToken)

  package struct Subscribe: Sendable {
    package var query: QuerySource
    package var window: Window?
    /// The version that the client still has.
    package var since: String?
    /// The least time between two patches.
    package var minInterval: Duration
    package var shape: Shape

    package init(
      _ query: QuerySource, window: Window? = nil, since: String? = nil, minInterval: Duration = .zero,
      shape: Shape = .arrays
    ) {
      self.query = query
      self.window = window
      self.since = since
      self.minInterval = minInterval
      self.shape = shape
    }
  }
}

/// A message that cannot be understood, with its `id` if it had one.
package struct ClientMessageError: Error {
  package var id: String?
  package var error: FreshetError
  /// Whether the text was not a JSON object at all. Protocol 5 then ends the connection with 4400.
  package var isNotAnObject = false
}

extension ClientMessage {
  /// Reads one text message.
  ///
  /// - Returns: the message and its `id`.
  package static func parse(_ bytes: UnsafeRawBufferPointer) throws(ClientMessageError) -> (String, ClientMessage) {
    let json: JSONValue
    do throws(JSONError) {
      json = try JSONParser.parse(bytes)
    } catch {
      throw ClientMessageError(
        error: .badMessage("not JSON: \(error.message), at byte \(error.offset)"), isNotAnObject: true)
    }
    guard case .object(let members) = json else {
      throw ClientMessageError(
        error: .badMessage("a message must be a JSON object, not \(json.kind)"), isNotAnObject: true)
    }
    var id: String?
    if case .string(let text)? = members["id"] { id = text }
    do throws(FreshetError) {
      let reader = MemberReader(members: members, prefix: "")
      let message = try ClientMessage(type: try reader.required("type"), reader)
      let name = try reader.required("id")
      if case .transact = message { return (name, message) }
      guard (1...64).contains(name.unicodeScalars.count) else {
        throw .badMessage("id must be a string of 1 to 64 characters")
      }
      return (name, message)
    } catch {
      throw ClientMessageError(id: id, error: error)
    }
  }

  private init(type: String, _ reader: MemberReader) throws(FreshetError) {
    switch type {
    case "subscribe": self = .subscribe(try Subscribe(reader))
    case "changes": self = .changes(try ChangesRequest(reader), since: try reader.string("since"))
    case "window": self = .window(try Window(reader))
    case "fetch": self = .fetch(try Window(reader))
    case "locate": self = .locate(try reader.key())
    case "requery": self = .requery(try reader.query(), try Window(json: reader.members["window"]))
    case "resync": self = .resync
    case "unsubscribe": self = .unsubscribe
    case "transact":
      self = .transact(try TransactionSource(reader.members), once: try TransactionSource.once(reader.members))
    case "ping": self = .ping
    case "authenticate": self = .authenticate(AccessToken(try reader.required("token")))
    default: throw FreshetError(.unknownType, "there is no message of the type \"\(type.prefix(64))\"")
    }
  }
}

extension ClientMessage.Subscribe {
  fileprivate init(_ reader: MemberReader) throws(FreshetError) {
    self.init(
      try reader.query(), window: try Window(json: reader.members["window"]), since: try reader.string("since"),
      minInterval: .milliseconds(try reader.count("minInterval") ?? 0),
      shape: try Shape(json: reader.members["shape"]) ?? .arrays)
  }
}

extension MemberReader {
  fileprivate func query() throws(FreshetError) -> QuerySource {
    try members["query"].map { json throws(FreshetError) in try QuerySource(json: json) } ?? .none
  }

  /// Reads a key: a value, or an array for a compound key.
  fileprivate func key() throws(FreshetError) -> [SQLValue] {
    guard let json = members["key"] else { throw .badMessage("key is missing") }
    guard case .array(let values) = json else { return [try SQLValue(json: json, what: "key")] }
    var key: [SQLValue] = []
    for (index, value) in values.enumerated() { key.append(try SQLValue(json: value, what: "key[\(index)]")) }
    return key
  }
}

extension Shape {
  package init?(json: JSONValue?) throws(FreshetError) {
    switch json {
    case nil, .null: return nil
    case .string(let name):
      guard let shape = Shape(rawValue: name) else { throw .badMessage("shape must be \"arrays\" or \"objects\"") }
      self = shape
    case .some: throw .badMessage("shape must be \"arrays\" or \"objects\"")
    }
  }
}

extension Window {
  fileprivate init(_ reader: MemberReader) throws(FreshetError) {
    guard let limit = try reader.count("limit") else { throw .badMessage("\(reader.prefix)limit is missing") }
    self.init(offset: try reader.count("offset") ?? 0, limit: limit)
  }

  /// Reads the `window` member of a subscription or of a snapshot's body.
  package init?(json: JSONValue?) throws(FreshetError) {
    switch json {
    case nil, .null: return nil
    case .object(let members): try self.init(MemberReader(members: members, prefix: "window."))
    case .some(let other): throw .badMessage("window must be an object, not \(other.kind)")
    }
  }
}
