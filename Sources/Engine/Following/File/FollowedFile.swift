package import ChangeCapture
package import Ground
package import Store

/// State that all threads of a process share which follow or read one file. Lists' followers, the feed and the
/// publisher each have a connection of their own, and share what is remembered of the tables (`FileCaptures`). Readers
/// share the numbers of the file's states, and the findings about its replacement (`FileUsers`).
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

  /// - Parameter users: shared by all threads of this process that have the file open.
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

  /// Creates the holder with which a thread opens the file for following.
  ///
  /// - Parameter restored: the state that another process kept, for the first connection.
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
