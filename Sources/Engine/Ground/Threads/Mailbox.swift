import Synchronization

/// Commands that any thread posts, and that one thread takes all at once, in their order.
///
/// Any thread.
package struct Mailbox<Command: Sendable>: ~Copyable, Sendable {
  private let commands = Mutex<[Command]>([])
  private let hasSome = Atomic<Bool>(false)
  private let wake: any Wakeable

  /// - Parameter wake: signalled after each command.
  package init(_ wake: any Wakeable) { self.wake = wake }

  package func post(_ command: Command) {
    commands.withLock {
      $0.append(command)
      hasSome.store(true, ordering: .releasing)
    }
    wake.signal()
  }

  package func takeAll() -> [Command] {
    commands.withLock { commands in
      defer { commands.removeAll(keepingCapacity: true) }
      hasSome.store(false, ordering: .releasing)
      return commands
    }
  }

  /// Whether there is nothing to take. Without a lock: for loops that ask often.
  package var isEmpty: Bool { !hasSome.load(ordering: .acquiring) }

  /// The number of commands not taken yet.
  package var count: Int { commands.withLock { $0.count } }
}
