package import ChangeCapture
package import Ground
package import Store

/// A file that a process follows: what all of its threads that do so share. Lists' followers, the feed and the
/// publisher each have a connection of their own, and one memory of what is in the tables (`FileCaptures`); readers
/// have the names of its states, and what others find of the file.
///
/// Any thread.
package final class FollowedFile: Sendable {
  package let path: String
  /// Numbers of the file's states.
  package let numbers: CommitNumbers
  /// The epochs that these numbers belong to.
  package let epochs: FileEpochs
  package let users: FileUsers
  /// The memory of its tables.
  let captures = FileCaptures()

  /// - Parameter users: all that have the file open in this process.
  package init(
    _ path: String, numbers: CommitNumbers = CommitNumbers(), epochs: FileEpochs = FileEpochs(), users: FileUsers? = nil
  ) {
    self.path = path
    self.numbers = numbers
    self.epochs = epochs
    self.users = users ?? FileUsers(path: path)
  }

  /// Reports writes to the file.
  package var watcher: DatabaseWatcher { users.watcher }

  /// A thread's way to the file: opens it for following.
  ///
  /// - Parameter restored: what another process has kept of the file, for the first time.
  package func holder(
    _ settings: ChangeCapture.Settings, clock: MonotonicClock, thread: (any Wakeable)? = nil,
    readsPosition: Bool = false,
    restoring restored: @escaping () -> CaptureState? = { nil }
  ) -> DatabaseHolder {
    DatabaseHolder(path: path, clock: clock, users: users, thread: thread) { [path, captures] in
      try OpenDatabase(
        path: path, settings, clock: clock, readsPosition: readsPosition, sharing: captures, restoring: restored())
    }
  }
}
