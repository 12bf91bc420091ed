import CSQLite
import Synchronization

extension Writer {
  /// Stops the statement that a writer is running, from any thread.
  package final class Interruption: Sendable {
    /// The address of the connection while it is open.
    private let connection: Mutex<UInt?>

    init(of connection: OpaquePointer) { self.connection = Mutex(UInt(bitPattern: connection)) }

    /// Makes the running statement fail; without one, does nothing.
    package func interrupt() {
      connection.withLock { if let open = $0.flatMap({ OpaquePointer(bitPattern: $0) }) { sqlite3_interrupt(open) } }
    }

    /// To be called before the connection is closed.
    func end() { connection.withLock { $0 = nil } }
  }
}
