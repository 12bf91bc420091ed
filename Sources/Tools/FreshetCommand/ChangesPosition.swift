import ChangeCapture
import Feed
import Foundation
import Logging

/// The position of a consumer: a line in a file, next to the feed's own state.
final class ChangesPosition {
  let journal: FeedJournal
  /// The known position; nil: none yet, or an invalid one.
  private(set) var known: String?
  private let path: String

  init(of database: String, consumer: String, in folder: String, logger: Logger) throws(StateFailure) {
    let part = "changes-\(consumer)"
    journal = try FeedJournal(of: database, part: part, in: folder, logger: logger)
    path = journal.path + ".position"
    let text = (try? String(contentsOfFile: path, encoding: .utf8))?.trimmingCharacters(in: .whitespacesAndNewlines)
    known = text?.isEmpty == false ? text : nil
  }

  /// Notes that the consumer has taken everything up to a position.
  func note(_ position: String) throws {
    known = position
    let temporary = path + ".tmp"
    guard
      FileManager.default.createFile(
        atPath: temporary, contents: Data((position + "\n").utf8), attributes: [.posixPermissions: 0o600]),
      rename(temporary, path) == 0
    else { throw CommandFailure("cannot write \(path)") }
  }
}
