package import Broker
import Ground

/// The names of a log's streams and subjects: of a single file, or of one file of a folder.
package struct LogSubjects: Sendable {
  /// The stream of batches.
  package let log: String
  /// The stream of snapshots.
  package let snapshotStream: String
  /// The prefix of all subjects.
  package let prefix: String

  package init(_ address: BrokerAddress) {
    log = address.stream
    snapshotStream = "\(log)-snapshots"
    prefix = "freshet.\(log)"
  }

  /// - Parameter database: the name of a database in a folder.
  package init(_ address: BrokerAddress, database: String) {
    self.init(address, token: Self.token(of: database))
  }

  private init(_ address: BrokerAddress, token: String) {
    // Addresses contain no =, and in tokens digits or an h follow each =, so no two streams have the same name.
    log = "\(address.stream)=\(token)"
    snapshotStream = "\(log)=snapshots"
    prefix = "freshet.\(address.stream).db.\(token)"
  }

  /// The subjects of all databases of a folder, to listen to.
  package static func ofEach(_ address: BrokerAddress) -> LogSubjects { LogSubjects(address, token: "*") }

  /// The subjects of a folder as a whole. `ofEach` includes them, and no database has them.
  package static func ofAll(_ address: BrokerAddress) -> LogSubjects { LogSubjects(address, token: "=") }

  /// The one subject of `log`.
  package var batches: String { "\(prefix).log" }
  /// The subjects of snapshots together, and each of them: pieces of files, and the index after the pieces.
  package var snapshots: String { "\(prefix).snapshots.>" }
  package var snapshotPieces: String { "\(prefix).snapshots.pieces" }
  package var snapshotIndex: String { "\(prefix).snapshots.index" }
  /// The subjects of requests to the writer's server and to all replicas.
  package func writer(_ request: LogRequest) -> String { "\(prefix).writer.\(request.rawValue)" }
  package func replicas(_ request: LogRequest) -> String { "\(prefix).replicas.\(request.rawValue)" }
  package var allOfWriter: String { "\(prefix).writer.>" }
  package var allOfReplicas: String { "\(prefix).replicas.>" }

  /// The prefix of a request's subject, and the request.
  static func parts(of subject: String) -> (prefix: String, request: LogRequest)? {
    let parts = subject.split(separator: ".")
    guard parts.count > 2, let request = LogRequest(rawValue: String(parts[parts.count - 1])) else { return nil }
    return (parts.dropLast(2).joined(separator: "."), request)
  }

  /// A name as subjects and streams' names contain it, without dots and slashes: other bytes than letters, digits, -
  /// and _ are written as = and two digits. Different names have different tokens.
  static func token(of database: String) -> String {
    let token = database.utf8.reduce(into: "") { token, byte in
      if byte.isNameByte {
        token.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        token += "=" + hexadecimal(byte)
      }
    }
    // Brokers keep a stream in a folder of its name, so a long token is replaced by a digest.
    if token.utf8.count <= 120 { return token }
    let digest = Digest()
    digest.add(Array(database.utf8))
    return "=h" + digest.value().map(hexadecimal).joined()
  }

  private static func hexadecimal(_ byte: UInt8) -> String { (byte < 16 ? "0" : "") + String(byte, radix: 16) }
}

/// A request of one server to another.
package enum LogRequest: String, Sendable {
  /// Asks the writer for a snapshot.
  case snapshot
  /// Asks the writer to run a client's transaction.
  case transact
  /// Asks every server for its name and position.
  case status
  /// Announces the writer's position to all replicas, without an answer.
  case position
}
