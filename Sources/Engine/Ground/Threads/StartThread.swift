/// Starts a joinable thread (`pthread_join`).
package func startThread(_ body: @escaping @Sendable () -> Void) -> pthread_t {
  guard let thread = makeThread(body) else { preconditionFailure("no thread can be started") }
  return thread
}

/// Starts a joinable thread.
///
/// - Returns: nil: there is none to be had.
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
