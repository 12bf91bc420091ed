import LiveQuery

/// The updates of a list: its first results, then an update for each change.
///
/// Each iteration is a subscription of its own, and ends with it. No updates are queued for a slow iteration: its next
/// update is the difference between its results and the newest ones.
///
/// - Throws: `FreshetError` if the list cannot be followed.
public struct ResultsUpdates<Element: Sendable>: AsyncSequence, Sendable {
  let source: any ResultsSource
  let query: Query
  let window: Window?
  let laid: LaidChanges
  let decode: @Sendable (ResultRow) throws -> Element

  public func makeAsyncIterator() -> Iterator {
    Iterator(ending: Ending(ResultsPump(source.follow(query, window: window), laid: laid, decode: decode)))
  }

  public struct Iterator: AsyncIteratorProtocol, Sendable {
    let ending: Ending

    public func next() async throws -> ResultsUpdate<Element>? {
      while let event = try await ending.pump.next() {
        if case .update(let update, _) = event { return update }
      }
      return nil
    }
  }

  /// Ends the subscription when the last copy is released.
  final class Ending: Sendable {
    let pump: ResultsPump<Element>
    init(_ pump: ResultsPump<Element>) { self.pump = pump }
    deinit { pump.feed.close() }
  }
}
