/// Work in parts that may be done at the same time.
package struct ConcurrentWork: Sendable {
  #if DEBUG
    /// Fewer rows are not worth a thread. Few in debug builds, so that every test has several.
    package static let leastRows = 8
  #else
    /// Fewer rows are not worth a thread.
    package static let leastRows = 20_000
  #endif

  /// How many there are.
  package let parts: Int
  private let perform: @Sendable (_ run: @escaping (Int) -> Void) -> Void

  /// - Parameters:
  ///   - parts: how many, one or more.
  ///   - perform: calls `run` with the number of each part, from 0; returns when all calls have.
  package init(parts: Int, perform: @escaping @Sendable (_ run: @escaping (Int) -> Void) -> Void) {
    self.parts = parts
    self.perform = perform
  }

  /// All of it on the calling thread.
  package static let serial = ConcurrentWork(parts: 1) { run in run(0) }

  #if DEBUG
    private static let threadCount = 3
  #else
    /// At most so many: for each, the C library keeps memory apart.
    private static let threadCount = min(4, max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))))
  #endif

  /// Runs parts on several threads, the calling one included. Parts without a thread run on the calling one.
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
  /// Only its own call sees an element meanwhile. Whatever else `body` reads must not change.
  ///
  /// - Throws: the error of one of the calls; others may not have been made.
  package func forEach<Element>(_ elements: inout [Element], _ body: (inout Element) throws -> Void) throws {
    var errors = [(any Error)?](repeating: nil, count: parts)
    elements.withUnsafeMutableBufferPointer { elements in
      errors.withUnsafeMutableBufferPointer { errors in
        let (elements, errors) = (elements, errors)
        withoutActuallyEscaping(body) { body in
          perform { part in
            // Every part has elements from everywhere: expensive ones often stand together.
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
