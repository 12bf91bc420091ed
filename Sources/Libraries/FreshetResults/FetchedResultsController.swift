public import Foundation
public import LiveQuery
public import Observation

/// Keeps a list of rows up to date, in sections, and reports what changed: `NSFetchedResultsController` for SQLite.
///
/// ```swift
/// let controller = database.results(Query(from: "bank", orderBy: ["name"], sectionBy: "state"), as: Bank.self)
/// controller.delegate = self
/// try await controller.performFetch()
/// controller.results.sections[2].name           // "Georgia"
/// controller.object(at: IndexPath(item: 0, section: 2))
/// ```
///
/// Any process may write to the database.
///
/// It belongs to the actor on which `performFetch` is called, usually the main actor: there its results change and its
/// delegate is called. It is observable: a SwiftUI view that reads `results` is redrawn when they change. It is
/// followed until it is deallocated, or until `stop`.
///
/// Mutable state: `results`, `delay`, `failure`, changed by incoming messages on its actor; `query`, `window`, by its
/// methods; `pump` and `task`, from `performFetch` until `stop`.
@Observable
public final class FetchedResultsController<Element: Sendable> {
  /// Empty until `performFetch` has returned.
  public private(set) var results = SectionedResults<Element>()
  /// Why the results are out of date; nil: they are up to date. The list continues by itself.
  public private(set) var delay: FreshetError?
  /// The error that ended the list; nil: it goes on.
  public private(set) var failure: FreshetError?
  public private(set) var query: Query
  /// The offsets whose contents are wanted; nil: all. Rows outside have an index path and no object.
  public private(set) var window: Range<Int>?

  @ObservationIgnored public weak var delegate: (any FetchedResultsControllerDelegate<Element>)?

  package let source: any ResultsSource
  package let laid = LaidChanges()
  @ObservationIgnored private let decode: @Sendable (ResultRow) throws -> Element
  @ObservationIgnored private var pump: ResultsPump<Element>?
  @ObservationIgnored private var task: Task<Void, Never>?
  /// Callers that wait for the positions of keys. The first one's was requested.
  @ObservationIgnored private var locating: [Locating] = []
  /// The former `query`, until it is known whether the new one can be followed.
  @ObservationIgnored private var previousQuery: Query?

  private typealias Locating = (key: [SQLValue], continuation: CheckedContinuation<IndexPath?, any Error>)

  package init(
    _ query: Query, window: Range<Int>?, source: any ResultsSource,
    decode: @escaping @Sendable (ResultRow) throws -> Element
  ) {
    self.query = query
    self.window = window
    self.source = source
    self.decode = decode
  }

  deinit {
    pump?.feed.close()
    task?.cancel()
  }

  /// Runs the query, and follows it from then on. The `results` are there when it returns.
  ///
  /// A list that has failed or was stopped starts again.
  ///
  /// - Throws: the error that prevents results.
  /// - Precondition: it is called on an actor, and always on the same one.
  public func performFetch(isolation: isolated (any Actor)? = #isolation) async throws(FreshetError) {
    precondition(isolation != nil, "performFetch has to be called on an actor, such as the main actor")
    stop()
    failure = nil
    let pump = ResultsPump(source.follow(query, window: serverWindow), laid: laid, decode: decode)
    self.pump = pump
    do throws(FreshetError) {
      while true {
        guard let event = try await pump.next() else { throw .databaseClosed }
        take(event)
        if case .update = event { break }
      }
    } catch {
      if self.pump === pump { fail(error) }
      throw error
    }
    guard self.pump === pump else { return }
    task = Task { [weak self] in
      // The captured actor runs the task.
      _ = isolation
      do throws(FreshetError) {
        while let event = try await pump.next() {
          guard let self, self.pump === pump else { return }
          take(event)
        }
        throw .databaseClosed
      } catch {
        guard let self, self.pump === pump else { return }
        fail(error)
      }
    }
  }

  /// Follows another query instead. If both have the same tables, key and columns, the change comes as a patch, so that
  /// rows move; the old results stay until the new ones arrive.
  ///
  /// An invalid query changes nothing: the delegate gets the error, and `query` reverts.
  public func requery(_ query: Query) {
    if pump != nil, previousQuery == nil { previousQuery = self.query }
    self.query = query
    pump?.feed.request(.requery(query, nil))
  }

  /// Requests the contents of other rows: the visible ones and some around them. Offsets count rows as shown.
  public func moveWindow(to window: Range<Int>) {
    self.window = window
    pump?.feed.request(.window(Window(results.overlay.base(window))))
  }

  /// The position at which the row with a key is shown; nil if it is not in the list. O(log rows), inside or outside
  /// the window.
  ///
  /// - Parameter key: a value for each of the key's columns.
  public func indexPath(
    forKey key: SQLValue..., isolation: isolated (any Actor)? = #isolation
  ) async throws -> IndexPath? {
    guard let pump else { throw failure ?? FreshetError(.unknownSubscription, "performFetch was not called") }
    guard key.count == results.key.count else {
      throw FreshetError(.badQuery, "the key has \(results.key.count) values: \(results.key.joined(separator: ", "))")
    }
    return try await withCheckedThrowingContinuation { continuation in
      locating.append((key, continuation))
      if locating.count == 1 { pump.locate(key) }
    }
  }

  /// Ends the list. The results stay as they are.
  public func stop() {
    pump?.feed.close()
    pump = nil
    task?.cancel()
    task = nil
    let waiting = locating
    locating = []
    for waiting in waiting {
      waiting.continuation.resume(throwing: failure ?? FreshetError(.shuttingDown, "the list is not followed any more"))
    }
  }

  /// The list's updates as a sequence, instead of calls of the delegate. Each iteration is a subscription of its own.
  public var updates: ResultsUpdates<Element> {
    ResultsUpdates(source: source, query: query, window: serverWindow, laid: laid, decode: decode)
  }

  /// The server's rows that the window is to show.
  private var serverWindow: Window? { window.map { Window(results.overlay.base($0)) } }

  private func take(_ event: ResultsPump<Element>.Event) {
    switch event {
    case .update(let update, let isCurrent):
      let old = results
      results = update.results
      if let moved = update.results.window { window = moved }
      previousQuery = nil
      if isCurrent { delay(by: nil) }
      switch update.change {
      case .replaced: delegate?.controllerDidReplaceContent(self)
      case .patched(let patch): delegate?.controller(self, didApply: patch, to: old)
      }
    case .located(let path):
      if locating.isEmpty { return }
      locating.removeFirst().continuation.resume(returning: path)
      if let next = locating.first { pump?.locate(next.key) }
    case .error(let error): take(error)
    case .delayed(let error): delay(by: error)
    }
  }

  private func delay(by error: FreshetError?) {
    if delay == error { return }
    delay = error
    delegate?.controller(self, isDelayedBy: error)
  }

  private func take(_ error: FreshetError) {
    if let previousQuery, !error.code.isRetryable, error.code != .schemaChanged {
      let refused = query
      query = previousQuery
      self.previousQuery = nil
      delegate?.controller(self, didRefuse: refused, because: error)
    } else {
      delay(by: error)
    }
  }

  private func fail(_ error: FreshetError) {
    failure = error
    stop()
    delegate?.controller(self, didFailWith: error)
  }
}

extension FetchedResultsController {
  public typealias Section = SectionedResults<Element>.Section

  public var sections: [Section] { results.sections }

  /// - Precondition: there is such a row, and it is inside the window.
  public func object(at path: IndexPath) -> Element { results[path] }

  /// Nil if there is no such row, or it is outside the window.
  public func objectIfLoaded(at path: IndexPath) -> Element? { results.objectIfLoaded(at: path) }

  /// Each section's index title, in order.
  public var sectionIndexTitles: [String] { results.sectionIndexTitles }

  /// The section to show when the user taps a title of the index. If several sections have the title, the first one.
  public func section(forSectionIndexTitle title: String) -> Int? {
    results.sections.firstIndex { $0.indexTitle == title }
  }
}

extension FreshetError {
  fileprivate static let databaseClosed = FreshetError(.shuttingDown, "the database was closed")
}

extension Window {
  package init(_ range: Range<Int>) { self.init(offset: range.lowerBound, limit: range.count) }
}
