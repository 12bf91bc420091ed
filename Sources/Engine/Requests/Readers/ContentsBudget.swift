package import LiveQuery
import Synchronization

/// The memory of large results on their way to clients, in bytes. Any thread.
///
/// A result counts from the time when a reader has read it until its last part was sent. A single result that exceeds
/// the budget is accepted if there are no others.
package final class ContentsBudget: Sendable {
  private let used = Atomic<Int>(0)
  private let limit: Int

  init(limit: Int) { self.limit = limit }

  var bytes: Int { used.load(ordering: .relaxed) }

  /// - Throws: `overloaded`.
  package func hold(_ bytes: Int) throws(FreshetError) -> Hold {
    let before = used.add(bytes, ordering: .relaxed).oldValue
    let hold = Hold(self, bytes)
    if before == 0 || before + bytes <= limit { return hold }
    throw FreshetError(.overloaded, "too many large results are on their way to clients: try again later")
  }

  /// Returns the bytes when it is deallocated.
  package final class Hold: Sendable {
    private let budget: ContentsBudget
    private let bytes: Int

    fileprivate init(_ budget: ContentsBudget, _ bytes: Int) {
      self.budget = budget
      self.bytes = bytes
    }

    deinit { budget.used.subtract(bytes, ordering: .relaxed) }
  }
}
