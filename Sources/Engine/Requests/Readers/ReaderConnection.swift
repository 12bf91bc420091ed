import Following
import Ground
import LiveQuery
import Logging
import Store

/// Everything that readers need to know of a file.
///
/// Any thread.
final class ReaderFile: Sendable {
  /// The file's number in the queue.
  let number: Int
  let logger: Logger
  private let file: FollowedFile
  private let access: AccessRules
  private let clock: MonotonicClock
  private let slow: SlowQueries
  private let readsPosition: Bool

  init(
    _ number: Int, _ file: FollowedFile, _ access: AccessRules, _ clock: MonotonicClock, _ slow: SlowQueries,
    readsPosition: Bool, _ logger: Logger
  ) {
    self.number = number
    self.file = file
    self.access = access
    self.clock = clock
    self.slow = slow
    self.readsPosition = readsPosition
    self.logger = logger
  }

  var users: FileUsers { file.users }

  fileprivate func holder(_ wake: WakeSignal) -> FileHolder<ReaderDatabase, any Error> {
    FileHolder(path: file.path, clock: clock, users: users, thread: wake) { [self] in
      try ReaderDatabase(path: file.path, access, clock: clock, slow: slow, readsPosition: readsPosition)
    }
  }
}

/// A reader's connection to a file, opened when a job needs it.
///
/// Owner: the reader.
final class ReaderConnection {
  let file: ReaderFile
  let holder: FileHolder<ReaderDatabase, any Error>

  init(_ file: ReaderFile, wake: WakeSignal) {
    self.file = file
    holder = file.holder(wake)
  }

  /// Runs `body` in a read transaction. If this connection cannot be used any more, a new one is opened first.
  func snapshot(_ body: (ReaderDatabase) throws -> Void) throws {
    let database = try open()
    do { try database.snapshot { try body(database) } } catch {
      guard holder.isUseless else { throw error }
      let opened = try open()
      try opened.snapshot { try body(opened) }
    }
  }

  /// Opens the file at the path, unless it is open.
  private func open() throws -> ReaderDatabase {
    if holder.finding == .same, let database = holder.connection { return database }
    holder.close()
    _ = holder.waitForFiles()
    if holder.finding == .missing { throw FreshetError.databaseMissing }
    let opened = try holder.open()
    holder.adopt(opened)
    return opened
  }
}
