#if canImport(Glibc)
  package import Glibc
#elseif canImport(Musl)
  package import Musl
#else
  package import Darwin
#endif

/// Starts a joinable thread (`pthread_join`).
package func startThread(_ body: @escaping @Sendable () -> Void) -> pthread_t {
  let context = Unmanaged.passRetained(ThreadBody(body)).toOpaque()
  #if os(Linux)
    var thread = pthread_t()
    let code = pthread_create(&thread, nil, { runBody($0!) }, context)
  #else
    var created: pthread_t?
    let code = pthread_create(&created, nil, { runBody($0) }, context)
    let thread = created!
  #endif
  precondition(code == 0, "no thread can be started")
  return thread
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
