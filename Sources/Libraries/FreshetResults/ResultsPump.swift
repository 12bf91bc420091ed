import Foundation
import LiveQuery
import Synchronization

/// Applies one subscription's messages, off the actor that shows the results.
actor ResultsPump<Element: Sendable> {
  enum Event: Sendable {
    /// - Parameter isCurrent: whether it ends a delay.
    case update(ResultsUpdate<Element>, isCurrent: Bool)
    case located(IndexPath?)
    /// An error about the list, which goes on, or about its new query.
    case error(FreshetError)
    /// The list is out of date, for this reason; nil: it is up to date again, without changes.
    case delayed(FreshetError?)
  }

  nonisolated let feed: any ResultsFeed
  /// The origins of key look-ups, in order.
  private nonisolated let locators = Mutex<[Locator]>([])
  private let laid: LaidChanges
  private var model: OverlaidModel<Element>
  /// Whether the last event was a delay.
  private var isDelayed = false
  private var delayOutlastsUpdates = false

  private enum Locator {
    case caller
    /// Whether the list includes these changes: the answer follows all that was committed before.
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

  /// The position arrives as an event.
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

  /// - Returns: whether there was a delay, which has ended.
  private func endDelay() -> Bool {
    defer { (isDelayed, delayOutlastsUpdates) = (false, false) }
    return isDelayed
  }
}
