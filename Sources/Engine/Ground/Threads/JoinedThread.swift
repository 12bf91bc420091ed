import Synchronization

/// Runs one thread at a time; its owner waits for the thread's end.
///
/// Any thread.
package final class JoinedThread: Sendable {
  // @unchecked: `pthread_t` is only a number or pointer that names the thread.
  private struct Handle: @unchecked Sendable { let thread: pthread_t }

  /// Nil if no thread was started, or if the owner has waited for its end.
  private let handle = Mutex<Handle?>(nil)

  package init() {}

  /// A thread without a waiting owner is detached.
  deinit { if let handle = handle.withLock({ $0 }) { pthread_detach(handle.thread) } }

  /// Starts a thread. A thread that was started earlier must be about to end.
  package func start(_ body: @escaping @Sendable () -> Void) {
    handle.withLock { handle in
      if let handle { pthread_join(handle.thread, nil) }
      guard let thread = makeThread(body) else { preconditionFailure("no thread can be started") }
      handle = Handle(thread: thread)
    }
  }

  /// Waits until the thread has ended, if there is one. To be called by its owner.
  package func join() {
    if let handle = handle.withLock({ $0.take() }) { pthread_join(handle.thread, nil) }
  }

  /// In builds with assertions, stops if called on another thread than the started one.
  package func assertIsCurrent() {
    assert(handle.withLock { $0.map { pthread_equal($0.thread, pthread_self()) != 0 } ?? true })
  }
}

/// Starts a joinable thread.
///
/// - Returns: nil: no thread could be created.
func makeThread(_ body: @escaping @Sendable () -> Void) -> pthread_t? {
  let context = Unmanaged.passRetained(ThreadBody(body)).toOpaque()
  #if os(Linux)
    var thread = pthread_t()
    let isStarted = pthread_create(&thread, nil, { runBody($0!) }, context) == 0
  #else
    var thread: pthread_t?
    let isStarted = pthread_create(&thread, nil, { runBody($0) }, context) == 0
  #endif
  if !isStarted { Unmanaged<ThreadBody>.fromOpaque(context).release() }
  return isStarted ? thread : nil
}

/// Carries the closure to its thread.
private final class ThreadBody {
  let body: @Sendable () -> Void
  init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

private func runBody(_ context: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
  Unmanaged<ThreadBody>.fromOpaque(context).takeRetainedValue().body()
  return nil
}
