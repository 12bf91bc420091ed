package import LiveQuery
import Synchronization

/// The messages that one reader has not taken yet. They are few, because the feed waits until they are taken.
package final class ChangesMailbox<Message: Sendable>: Sendable {
  private struct State {
    var messages: [Result<Message, FreshetError>] = []
    var waiting: CheckedContinuation<Message, any Error>?
    var end: FreshetError?
  }

  private let state = Mutex(State())
  private let hasRoom: @Sendable () -> Void
  private let limit: Int

  /// - Parameters:
  ///   - limit: the number of messages with which it is full.
  ///   - hasRoom: called when it was full and has room again.
  package init(limit: Int = 64, hasRoom: @escaping @Sendable () -> Void) {
    self.limit = limit
    self.hasRoom = hasRoom
  }

  package var isDrained: Bool { state.withLock { $0.messages.count < limit } }

  package func put(_ message: Result<Message, FreshetError>) {
    let waiting = state.withLock { state in
      defer { state.waiting = nil }
      if state.waiting == nil { state.messages.append(message) }
      return state.waiting
    }
    waiting?.resume(with: message.mapError { $0 })
  }

  /// Messages that have arrived can still be taken.
  package func close(_ error: FreshetError) {
    let waiting = state.withLock { state in
      defer { state.waiting = nil }
      state.end = error
      return state.waiting
    }
    waiting?.resume(throwing: error)
  }

  package func next() async throws -> Message {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let (result, wasFull): (Result<Message, any Error>?, Bool) = state.withLock { state in
          if Task.isCancelled { return (.failure(CancellationError()), false) }
          let wasFull = state.messages.count >= limit
          if !state.messages.isEmpty { return (state.messages.removeFirst().mapError { $0 }, wasFull) }
          if let end = state.end { return (.failure(end), false) }
          state.waiting = continuation
          return (nil, false)
        }
        if let result { continuation.resume(with: result) }
        if wasFull { hasRoom() }
      }
    } onCancel: {
      let waiting = state.withLock { state in
        defer { state.waiting = nil }
        return state.waiting
      }
      waiting?.resume(throwing: CancellationError())
    }
  }
}
