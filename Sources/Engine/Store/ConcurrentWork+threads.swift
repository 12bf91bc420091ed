import RankedCollections

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

extension ConcurrentWork {
  #if DEBUG
    private static let threadCount = 3
  #else
    /// At most so many: for each, the C library keeps memory apart.
    private static let threadCount = min(4, max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))))
  #endif

  /// On several threads, the calling one among them.
  static let threads = ConcurrentWork(parts: threadCount) { run in
    let threads = (1..<threadCount).map { part in start { run(part) } }
    run(0)
    for (index, thread) in threads.enumerated() {
      if let thread { pthread_join(thread, nil) } else { run(index + 1) }
    }
  }

  /// - Returns: nil: there is no thread to be had.
  private static func start(_ work: @escaping () -> Void) -> pthread_t? {
    let context = Unmanaged.passRetained(ThreadWork(work)).toOpaque()
    #if os(Linux)
      var thread = pthread_t()
      let isStarted = pthread_create(&thread, nil, { runThread($0!) }, context) == 0
    #else
      var thread: pthread_t?
      let isStarted = pthread_create(&thread, nil, { runThread($0) }, context) == 0
    #endif
    if !isStarted { Unmanaged<ThreadWork>.fromOpaque(context).release() }
    return isStarted ? thread : nil
  }
}

private final class ThreadWork {
  let perform: () -> Void
  init(_ perform: @escaping () -> Void) { self.perform = perform }
}

private func runThread(_ context: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
  Unmanaged<ThreadWork>.fromOpaque(context).takeRetainedValue().perform()
  return nil
}
