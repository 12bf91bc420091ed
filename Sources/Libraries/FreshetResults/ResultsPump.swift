import Foundation
import LiveQuery
import Synchronization

/// Applies the messages of one subscription, off the actor that shows the results.
actor ResultsPump<Element: Sendable> {
  enum Event: Sendable {
    /// - Parameter isCurrent: whether a delay is over with it.
    case update(ResultsUpdate<Element>, isCurrent: Bool)
    case located(IndexPath?)
    /// What is said about the list, which goes on: about its new query, if there is one.
    case error(FreshetError)
    /// The list stays as it is for the moment: the error says why. Nil: it is up to date again, and the same.
    case delayed(FreshetError?)
  }

  nonisolated let feed: any ResultsFeed
  /// Who asked for the places of keys, in order.
  private nonisolated let locators = Mutex<[Locator]>([])
  private let laid: LaidChanges
  private var model: OverlaidModel<Element>
  /// The last event was one of delay.
  private var isDelayed = false
  private var delayOutlastsUpdates = false

  private enum Locator {
    case caller
    /// Whether the list has caught up with these changes: the answer comes behind all that was committed before.
    case changes([Int])
  }

  init(
    _ feed: any ResultsFeed, laid: LaidChanges, decode: @escaping @Sendable (ResultRow) throws -> Element
  ) {
    self.feed = feed
    self.laid = laid
    model = OverlaidModel(decode: decode)
    laid.add(feed)
  }

  deinit { laid.remove(feed) }

  /// The answer is an event.
  nonisolated func locate(_ key: [SQLValue]) { locate(key, .caller) }

  private nonisolated func locate(_ key: [SQLValue], _ locator: Locator) {
    locators.withLock {
      $0.append(locator)
      // Requests are made in the order in which their answers are expected.
      feed.request(.locate(key))
    }
  }

  /// - Returns: nil at the end.
  func next() async throws(FreshetError) -> Event? {
    while let message = await feed.next() {
      switch message {
      case .located(let path):
        let locator = locators.withLock { $0.isEmpty ? .caller : $0.removeFirst() }
        guard case .changes(let ids) = locator else { return .located(path.flatMap { model.shownPath(IndexPath($0)) }) }
        model.settled.formUnion(ids)
        if let update = try update(.laid) { return .update(update, isCurrent: !isDelayed) }
      case .error(let error, let isFatal):
        if isFatal { throw error }
        (isDelayed, delayOutlastsUpdates) = (true, false)
        return .error(error)
      case .delayed(let error, let outlastsUpdates):
        (isDelayed, delayOutlastsUpdates) = (true, outlastsUpdates)
        return .delayed(error)
      case .current: if endDelay() { return .delayed(nil) }
      case .laid: if let update = try update(.laid) { return .update(update, isCurrent: !isDelayed) }
      case .snapshot, .rows, .patch:
        do throws(FreshetError) {
          let update = try update(message)
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

  private func update(_ message: ListMessage) throws(FreshetError) -> ResultsUpdate<Element>? {
    let update = try model.apply(message, laid.changes)
    laid.settle(model.settled, by: feed)
    if !model.unsettled.isEmpty {
      locate(model.results.key.map { _ in .null }, .changes(model.unsettled))
      model.unsettled = []
    }
    return update
  }

  /// - Returns: whether there was a delay, which is over.
  private func endDelay() -> Bool {
    defer { (isDelayed, delayOutlastsUpdates) = (false, false) }
    return isDelayed
  }
}
