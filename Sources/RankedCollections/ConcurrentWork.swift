#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Work that several threads share, the calling one among them.
enum ConcurrentWork {
  #if DEBUG
    /// Fewer rows are not worth a thread. Few in debug builds, so that every test has several.
    static let leastRows = 8
    static let parts = 3
  #else
    /// Fewer rows are not worth a thread.
    static let leastRows = 20_000
    /// How many threads there are at most: with each, the C library keeps memory apart.
    static let parts = min(4, max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))))
  #endif

  /// Calls `body` once for each element; returns when all calls have.
  ///
  /// Nobody but its own call sees an element meanwhile. What else `body` looks at must not change.
  ///
  /// - Throws: what one of the calls did; others may not have been made.
  static func forEach<Element>(_ elements: inout [Element], _ body: (inout Element) throws -> Void) throws {
    var errors = [(any Error)?](repeating: nil, count: parts)
    elements.withUnsafeMutableBufferPointer { elements in
      errors.withUnsafeMutableBufferPointer { errors in
        let (elements, errors) = (elements, errors)
        withoutActuallyEscaping(body) { body in
          perform { part in
            // Every part has elements from everywhere: those that are much work often stand together.
            do {
              for index in stride(from: part, to: elements.count, by: parts) { try body(&elements[index]) }
            } catch { errors[part] = error }
          }
        }
      }
    }
    for case let error? in errors { throw error }
  }

  /// Calls `run` with each part's number, on a thread each.
  private static func perform(_ run: @escaping (Int) -> Void) {
    let threads = (1..<parts).map { part in start { run(part) } }
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
