import LiveQuery
import Synchronization

/// The memory of large results that are on their way to clients, in bytes. Any thread.
///
/// A result counts from when a reader has read it until its last part was sent. One that is too large by itself is let pass while
/// no other is on its way.
final class ContentsBudget: Sendable {
  private let used = Atomic<Int>(0)
  private let limit: Int

  init(limit: Int) { self.limit = limit }

  var bytes: Int { used.load(ordering: .relaxed) }

  /// - Throws: `overloaded`.
  func hold(_ bytes: Int) throws(FreshetError) -> Hold {
    let before = used.add(bytes, ordering: .relaxed).oldValue
    let hold = Hold(self, bytes)
    if before == 0 || before + bytes <= limit { return hold }
    throw FreshetError(.overloaded, "too many large results are on their way to clients: try again later")
  }

  /// Gives the bytes back at its end.
  final class Hold: Sendable {
    private let budget: ContentsBudget
    private let bytes: Int

    fileprivate init(_ budget: ContentsBudget, _ bytes: Int) {
      self.budget = budget
      self.bytes = bytes
    }

    deinit { budget.used.subtract(bytes, ordering: .relaxed) }
  }
}
