import LiveQuery

/// The steps of a list: its results first, then an update for each change of them.
///
/// Each iteration is a subscription of its own, and ends with it. Nothing is queued for an iteration that is slow: its next update is
/// the difference between what it has and the newest results.
///
/// - Throws: `FreshetError`, when the list cannot be followed.
public struct ResultsUpdates<Element: Sendable>: AsyncSequence, Sendable {
  let source: any ResultsSource
  let query: Query
  let window: Window?
  let decode: @Sendable (ResultRow) throws -> Element

  public func makeAsyncIterator() -> Iterator {
    Iterator(ending: Ending(ResultsPump(source.follow(query, window: window), decode: decode)))
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

  /// Ends the subscription with its last copy.
  final class Ending: Sendable {
    let pump: ResultsPump<Element>
    init(_ pump: ResultsPump<Element>) { self.pump = pump }
    deinit { pump.feed.close() }
  }
}

/// Applies the messages of one subscription, off the actor that shows the results.
actor ResultsPump<Element: Sendable> {
  enum Event: Sendable {
    /// - Parameter isCurrent: whether a delay is over with it.
    case update(ResultsUpdate<Element>, isCurrent: Bool)
    case located(LiveQuery.IndexPath?)
    /// What is said about the list, which goes on: about its new query, if there is one.
    case error(FreshetError)
    /// The list stays as it is for the moment: the error says why. Nil: it is up to date again, and the same.
    case delayed(FreshetError?)
  }

  nonisolated let feed: any ResultsFeed
  private var model: ResultsModel<Element>
  /// The last event was one of delay.
  private var isDelayed = false
  private var delayOutlastsUpdates = false

  init(_ feed: any ResultsFeed, decode: @escaping @Sendable (ResultRow) throws -> Element) {
    self.feed = feed
    model = ResultsModel(decode: decode)
  }

  /// - Returns: nil at the end.
  func next() async throws(FreshetError) -> Event? {
    while let message = await feed.next() {
      switch message {
      case .located(let path): return .located(path)
      case .error(let error, let isFatal):
        if isFatal { throw error }
        (isDelayed, delayOutlastsUpdates) = (true, false)
        return .error(error)
      case .delayed(let error, let outlastsUpdates):
        (isDelayed, delayOutlastsUpdates) = (true, outlastsUpdates)
        return .delayed(error)
      case .current: if endDelay() { return .delayed(nil) }
      case .snapshot, .rows, .patch:
        do throws(FreshetError) {
          let update = try model.apply(message)
          let wasDelayed = model.isComplete && !delayOutlastsUpdates && endDelay()
          if let update { return .update(update, isCurrent: !isDelayed) }
          if wasDelayed { return .delayed(nil) }
        } catch {
          if error.code != .internal { throw error }
          feed.request(.resync)
        }
      }
    }
    return nil
  }

  /// - Returns: whether there was a delay, which is over.
  private func endDelay() -> Bool {
    defer { (isDelayed, delayOutlastsUpdates) = (false, false) }
    return isDelayed
  }
}
