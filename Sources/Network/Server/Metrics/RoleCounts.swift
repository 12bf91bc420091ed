import Synchronization

/// Sessions and subscriptions of each role: there are as many roles as the configuration has.
///
/// Any thread: one lock.
final class RoleCounts: Sendable {
  private let counts = Mutex<[String: (sessions: Int, subscriptions: Int)]>([:])

  /// - Parameter role: nil: there are no roles.
  func add(sessions: Int = 0, subscriptions: Int = 0, of role: String?) {
    guard let role else { return }
    counts.withLock { counts in
      let known = counts[role] ?? (0, 0)
      counts[role] = (known.sessions + sessions, known.subscriptions + subscriptions)
    }
  }

  subscript(role: String) -> (sessions: Int, subscriptions: Int) { counts.withLock { $0[role] ?? (0, 0) } }
}
