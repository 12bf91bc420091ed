import Foundation
package import LiveClient

/// Runs a session over a socket until it ends: one thread, which does what the session says.
package final class WatchLoop {
  private let endpoint: Endpoint
  private let isOnce: Bool
  private let readsKeys: Bool
  private let output: any WatchOutput
  private var session: WatchSession
  private let socket = LiveSocket()
  private let events: OutsideEvents
  private var keys = KeyDecoder()
  private var generator = SystemRandomNumberGenerator()
  /// When to connect again.
  private var retryTime: ContinuousClock.Instant?

  /// How it ended.
  private enum End: Error {
    case left
    case failed(String)
  }

  /// - Parameter isOnce: whether it ends when the result is there.
  package init(_ endpoint: Endpoint, _ session: WatchSession, isOnce: Bool, display: WatchDisplay) {
    self.endpoint = endpoint
    self.session = session
    self.isOnce = isOnce
    readsKeys = display == .screen
    output = display.output
    events = OutsideEvents(socket.waker)
  }

  /// - Throws: when the server or the connection makes going on useless.
  package func run() throws(LiveClientError) {
    events.watchSignals()
    if readsKeys { events.watchKeys() }
    output.refresh(session)
    do {
      try perform(session.start())
      while true { try turn() }
    } catch End.failed(let sentence) {
      output.finish()
      throw LiveClientError(sentence)
    } catch {
      output.finish()
    }
  }

  private func turn() throws {
    var milliseconds = 60_000
    if let retryTime {
      let rest = ContinuousClock.now.duration(to: retryTime)
      milliseconds = max(0, Int(rest.components.seconds * 1_000 + rest.components.attoseconds / 1_000_000_000_000_000))
    }
    for event in socket.service(milliseconds: milliseconds) { try handle(event) }
    for event in events.take() { try handle(event) }
    if let retryTime, ContinuousClock.now >= retryTime {
      self.retryTime = nil
      try perform(session.retry())
      output.refresh(session)
    }
  }

  private func handle(_ event: LiveSocket.Event) throws {
    switch event {
    case .opened:
      try perform(session.opened())
      output.refresh(session)
    case .received(let bytes):
      output.received(bytes)
      try perform(session.received(bytes))
      if isOnce, session.list.isComplete { throw End.left }
    case .closed(let code, let reason):
      try perform(session.closed(code: code, reason: reason, using: &generator))
      output.refresh(session)
    }
  }

  private func handle(_ event: OutsideEvent) throws {
    switch event {
    case .terminated: throw End.left
    case .resized: try perform(output.resize(&session))
    case .keys(let bytes):
      for key in keys.keys(bytes) {
        if key == .quit { throw End.left }
        try perform(output.press(key, &session))
      }
    }
  }

  private func perform(_ actions: [WatchSession.Action]) throws {
    for action in actions {
      switch action {
      case .connect: socket.connect(to: endpoint)
      case .send(let text): socket.send(text)
      case .wait(let milliseconds): retryTime = .now + .milliseconds(milliseconds)
      case .show(let change): output.show(change, session)
      case .warn(let sentence): output.warn(sentence)
      case .fail(let sentence): throw End.failed(sentence)
      }
    }
  }
}
