import Foundation
import FreshetRemote
import FreshetResults
package import LiveQuery
import WebSocketClient

/// Follows a list and shows it, until it is left or cannot be followed.
///
/// A program on `FreshetRemote`, with the same controller as any other. Its transport differs: unlike a library's, it
/// gives up when no server answers at first, and when the server has closed the connection for a lasting reason; and
/// with `--json` it prints each message before the list takes it in. Keys, signals, the connection and the list's
/// changes go through one sequence of events to this actor. `WatchedList` decides which window is asked for, and when;
/// `PlainText` and `ScreenText` turn results and patches into text. All three are pure.
///
/// Mutable state: `list`, the window and what is in it; `keys`, the bytes of a key that has not come whole. The actor
/// guards both.
package actor WatchLoop {
  package struct Failure: Error {
    /// One sentence for people.
    package let sentence: String
  }

  private let isOnce: Bool
  private let output: any WatchOutput
  private let controller: FetchedResultsController<ResultRow>
  private let relay: EventRelay
  private let events: AsyncStream<WatchEvent>
  private let outside: OutsideEvents
  private var list: WatchedList
  private var keys = KeyDecoder()

  /// How it ended.
  private enum End: Error {
    case left
    case failed(String)
  }

  /// Signals from now on end it in order. To be called before other threads are made.
  ///
  /// - Parameters:
  ///   - authorities: a file, in PEM format, with the trusted authorities; nil: the system's.
  ///   - isOnce: whether it ends when the result is there.
  /// - Throws: `FreshetError` for an invalid address, and for a file without certificates.
  package init(
    _ address: String, _ query: Query, window: Window?, token: String?, authorities: String? = nil,
    isOnce: Bool,
    display: WatchDisplay
  ) throws {
    let (events, continuation) = AsyncStream.makeStream(of: WatchEvent.self)
    outside = OutsideEvents(events: continuation)
    outside.watchSignals()
    if display == .screen { outside.watchKeys() }
    let transport = WatchTransport(
      address, over: try authorities.map(WebSocketTransport.init) ?? WebSocketTransport(), events: continuation,
      received: display.received)
    let database = try RemoteDatabase(address, token: Self.source(of: token), transport: transport)
    controller = database.results(query, window: window.map { $0.offset..<$0.offset.addingClamped($0.limit) })
    relay = EventRelay(events: continuation)
    controller.delegate = relay
    self.events = events
    self.isOnce = isOnce
    output = display.output
    list = WatchedList(window: window)
  }

  private static func source(of token: String?) -> (@Sendable () async throws -> String)? {
    guard let token else { return nil }
    return { token }
  }

  /// - Throws: `Failure`, when going on is useless.
  package func run() async throws {
    output.refresh(list)
    Task { await fetch() }
    defer { output.finish() }
    do {
      for await event in events { try handle(event) }
    } catch End.failed(let sentence) {
      throw Failure(sentence: sentence)
    } catch {}
  }

  private func fetch() async {
    do throws(FreshetError) { try await controller.performFetch() } catch {
      outside.events.yield(.failed(error.description))
    }
  }

  private func handle(_ event: WatchEvent) throws {
    switch event {
    case .connected:
      list.connected()
      output.refresh(list)
    case .disconnected(let sentence):
      if list.status == .live { output.warn("\(sentence), trying again") }
      list.status = .waiting
      output.refresh(list)
    case .replaced(let rows):
      list.take(rows)
      output.show(nil, list)
      if isOnce { throw End.left }
    case .patched(let patch, let old, let rows):
      list.take(rows)
      output.show((patch, old), list)
    case .delayed(let error?):
      // A command has only one token, so it cannot try another.
      if error.code == .unauthenticated { throw End.failed(error.description) }
      // The connection's own event has reported `disconnected` already.
      if error.code != .disconnected { output.warn(error.description) }
      output.refresh(list)
    case .delayed(nil): output.refresh(list)
    case .failed(let sentence): throw End.failed(sentence)
    case .terminated: throw End.left
    case .resized: output.resize(&list)
    case .keys(let bytes):
      for key in keys.keys(bytes) {
        if key == .quit { throw End.left }
        output.press(key, &list)
      }
    }
    if let window = list.nextWindow() {
      controller.moveWindow(to: window.offset..<window.offset.addingClamped(window.limit))
    }
  }
}

/// Passes the list's events to the loop, in order with all others.
private final class EventRelay: FetchedResultsControllerDelegate {
  let events: AsyncStream<WatchEvent>.Continuation

  init(events: AsyncStream<WatchEvent>.Continuation) { self.events = events }

  func controllerDidReplaceContent(_ controller: FetchedResultsController<ResultRow>) {
    events.yield(.replaced(controller.results))
  }

  func controller(
    _ controller: FetchedResultsController<ResultRow>, didApply patch: ResultsPatch, to old: SectionedResults<ResultRow>
  ) {
    events.yield(.patched(patch, from: old, to: controller.results))
  }

  func controller(_ controller: FetchedResultsController<ResultRow>, isDelayedBy error: FreshetError?) {
    events.yield(.delayed(error))
  }

  func controller(_ controller: FetchedResultsController<ResultRow>, didFailWith error: FreshetError) {
    events.yield(.failed(error.description))
  }
}

extension Int {
  /// The sum, clamped: the limit of a window may be any number.
  fileprivate func addingClamped(_ other: Int) -> Int {
    let (sum, overflows) = addingReportingOverflow(other)
    return overflows ? .max : sum
  }
}
