import Synchronization

/// The messages that a feed has not taken yet. With this process's engine there is rarely more than one, because
/// followers wait until the mailbox is empty. A server does not wait for one list of many: beyond `limit`, all messages
/// are dropped and the list must request a snapshot. Rows do not count: a list is as long as it was requested, and if
/// its first rows were dropped before the last ones came, it would never open.
///
/// Any thread.
package final class Mailbox: Sendable {
  private struct State {
    var messages: [ListMessage] = []
    /// The number of `messages` that count against the limit.
    var counted = 0
    var waiter: CheckedContinuation<ListMessage?, Never>?
    /// A bit for each follower that waits until the mailbox is empty.
    var followers: UInt64 = 0
    var isClosed = false
    /// Messages were dropped: further ones are useless until a snapshot comes.
    var hasOverflowed = false
    /// That snapshot was requested.
    var hasAsked = false
  }

  private let state = Mutex(State())
  private let limit: Int

  package init(limit: Int = .max) { self.limit = limit }

  /// - Returns: false if the limit was exceeded: a snapshot must be requested once all messages are taken.
  @discardableResult
  package func put(_ message: ListMessage) -> Bool {
    let (waiter, hasRoom) = state.withLock { state -> (CheckedContinuation<ListMessage?, Never>?, Bool) in
      if state.isClosed { return (nil, true) }
      switch message {
      case .snapshot: state.hasOverflowed = false
      case .rows, .patch: if state.hasOverflowed { return (nil, true) }
      case .located, .error, .delayed, .current, .laid: break
      }
      if state.counted >= limit, message.counts {
        state.messages = []
        state.counted = 0
        (state.hasOverflowed, state.hasAsked) = (true, false)
        return (nil, false)
      }
      guard let waiter = state.waiter else {
        state.messages.append(message)
        if message.counts { state.counted += 1 }
        return (nil, true)
      }
      state.waiter = nil
      return (waiter, true)
    }
    waiter?.resume(returning: message)
    return hasRoom
  }

  /// - Parameters:
  ///   - overflowed: called when a snapshot must be requested.
  ///   - wakes: called with a bit for each follower that waited for these messages to be taken.
  /// - Returns: nil if it is closed, or the waiting task is cancelled.
  package func next(overflowed: () -> Void = {}, wakes: (UInt64) -> Void = { _ in }) async -> ListMessage? {
    let mustAsk = state.withLock { state in
      if !state.hasOverflowed || state.hasAsked || !state.messages.isEmpty { return false }
      state.hasAsked = true
      return true
    }
    if mustAsk { overflowed() }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { waiter in
        let (answer, followers) = take(or: waiter)
        if followers != 0 { wakes(followers) }
        if let answer { waiter.resume(returning: answer) }
      }
    } onCancel: {
      close()
    }
  }

  /// - Returns: the answer, and the followers that wait; a nil answer: the continuation gets the next message.
  private func take(or waiter: CheckedContinuation<ListMessage?, Never>) -> (answer: ListMessage??, followers: UInt64) {
    state.withLock { state in
      if state.isClosed { return (.some(nil), 0) }
      if state.messages.isEmpty {
        state.waiter = waiter
        return (nil, 0)
      }
      let message = state.messages.removeFirst()
      if message.counts { state.counted -= 1 }
      if !state.messages.isEmpty { return (message, 0) }
      defer { state.followers = 0 }
      return (message, state.followers)
    }
  }

  /// Whether all messages are taken. If not, the follower is woken when they are.
  package func isEmpty(orWakes follower: Int) -> Bool {
    state.withLock { state in
      if state.messages.isEmpty || state.isClosed { return true }
      state.followers |= 1 << UInt64(follower)
      return false
    }
  }

  package func close() {
    let waiter = state.withLock { state in
      defer { state.waiter = nil }
      state.isClosed = true
      state.messages = []
      return state.waiter
    }
    waiter?.resume(returning: nil)
  }
}

extension ListMessage {
  fileprivate var counts: Bool { if case .rows = self { false } else { true } }
}
