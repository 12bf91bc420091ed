import Synchronization

/// Commands that any thread posts, and that one thread takes all at once, in their order.
///
/// Any thread.
package struct Mailbox<Command: Sendable>: ~Copyable, Sendable {
  private let commands = Mutex<[Command]>([])
  private let wake: WakeSignal

  /// - Parameter wake: signalled after each command.
  package init(_ wake: WakeSignal) { self.wake = wake }

  package func post(_ command: Command) {
    commands.withLock { $0.append(command) }
    wake.signal()
  }

  package func takeAll() -> [Command] {
    commands.withLock { commands in
      if commands.isEmpty { return [] }
      defer { commands.removeAll(keepingCapacity: true) }
      return commands
    }
  }

  /// Commands that nobody has taken.
  package var count: Int { commands.withLock { $0.count } }
}
