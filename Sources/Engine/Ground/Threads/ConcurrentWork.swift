/// Work in parts that may be done at the same time.
package struct ConcurrentWork: Sendable {
  #if DEBUG
    /// Work on fewer rows uses one thread. The limit is low in debug builds, so that every test uses several threads.
    package static let leastRows = 8
  #else
    /// Work on fewer rows uses one thread, because starting threads would take longer.
    package static let leastRows = 20_000
  #endif

  /// The number of parts.
  package let parts: Int
  private let perform: @Sendable (_ run: @escaping (Int) -> Void) -> Void

  /// - Parameters:
  ///   - parts: how many, one or more.
  ///   - perform: calls `run` with the number of each part, from 0; returns when all calls have.
  package init(parts: Int, perform: @escaping @Sendable (_ run: @escaping (Int) -> Void) -> Void) {
    self.parts = parts
    self.perform = perform
  }

  /// Does all of the work on the calling thread.
  package static let serial = ConcurrentWork(parts: 1) { run in run(0) }

  #if DEBUG
    private static let threadCount = 3
  #else
    /// At most four threads, because the C library reserves memory for each.
    private static let threadCount = min(4, max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))))
  #endif

  /// Runs parts on several threads, the calling one included. If a thread cannot be created, the calling one runs its
  /// part.
  package static let threads = ConcurrentWork(parts: threadCount) { run in
    // No two calls have the same part.
    nonisolated(unsafe) let run = run
    let threads = (1..<threadCount).map { part in makeThread { run(part) } }
    run(0)
    for (index, thread) in threads.enumerated() {
      if let thread { pthread_join(thread, nil) } else { run(index + 1) }
    }
  }

  /// Calls `body` once for each element; returns when all calls have.
  ///
  /// No two calls have the same element. Everything else that `body` reads must not change until all calls have
  /// returned.
  ///
  /// - Throws: the error of one of the calls; some of the other calls may not have been made then.
  package func forEach<Element>(_ elements: inout [Element], _ body: (inout Element) throws -> Void) throws {
    var errors = [(any Error)?](repeating: nil, count: parts)
    elements.withUnsafeMutableBufferPointer { elements in
      errors.withUnsafeMutableBufferPointer { errors in
        let (elements, errors) = (elements, errors)
        withoutActuallyEscaping(body) { body in
          perform { part in
            // Each part takes elements from the whole array, because expensive elements are often next to each other.
            do {
              for index in stride(from: part, to: elements.count, by: parts) { try body(&elements[index]) }
            } catch { errors[part] = error }
          }
        }
      }
    }
    for case let error? in errors { throw error }
  }
}
