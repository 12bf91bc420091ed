import Ground
import LiveQuery
import Store
import Wire

/// One line of a log: a JSON object that begins with `time` and `event`, and a line feed.
enum LogLine {
  static func make(_ event: String, _ members: (inout JSONWriter) -> Void) -> [UInt8] {
    var writer = JSONWriter(reserving: 256)
    writer.object { object in
      object.member("time", LogTime.now.description)
      object.member("event", event)
      members(&object)
    }
    return writer.bytes + [UInt8(ascii: "\n")]
  }
}

/// The client that did something.
struct LogActor: Sendable {
  /// The client's.
  var address: String
  /// The claim `sub`.
  var subject: String?
  /// Nil without tokens and roles.
  var role: String?
  /// The database that it uses, of several.
  var database: String?
}

/// The subject of a request, as logs may name it: neither SQL nor values.
enum LogSubject: Sendable, Equatable {
  /// A published query or statement, by its name.
  case published(String)
  case own(Fingerprint)
  /// An action on one of several databases.
  case database(DatabaseAction)
}

/// A client's action on a database as a whole.
enum DatabaseAction: String, Sendable {
  case make, remove
}

extension JSONWriter {
  mutating func members(of actor: LogActor) {
    if !actor.address.isEmpty { member("address", actor.address.loggable(256)) }
    if let subject = actor.subject { member("sub", subject.loggable(256)) }
    if let database = actor.database { member("database", database) }
    if let role = actor.role { member("role", role.loggable(64)) }
  }

  mutating func member(_ subject: LogSubject?) {
    switch subject {
    case .published(let name): member("name", name)
    case .own(let fingerprint): member("fingerprint", fingerprint.description)
    case .database(let action): member("action", action.rawValue)
    case nil: break
    }
  }

  mutating func milliseconds(_ span: Nanoseconds) {
    name("ms")
    value(SQLValue.real(Double(span.count / 1_000) / 1_000))
  }
}

extension String {
  /// Cut to so many characters. Characters that a terminal would obey or turn around become U+FFFD; the writer escapes
  /// those that would end the line or the string.
  func loggable(_ limit: Int) -> String {
    let isShort = utf8.count <= limit
    if isShort, utf8.allSatisfy({ $0 < 0x7F }) { return self }
    var result = String.UnicodeScalarView()
    for scalar in unicodeScalars.prefix(limit) {
      switch scalar.value {
      case 0x7F...0x9F, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: result.append("\u{FFFD}")
      default: result.append(scalar)
      }
    }
    return String(result)
  }
}
