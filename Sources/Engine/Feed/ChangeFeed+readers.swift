import ChangeCapture
import Following
import Ground
import LiveQuery
import Logging
import Requests
import Store
import Wire

// Turns entries of the log into messages.
extension ChangeFeed {
  func open(_ tables: FeedTables) {
    let all = openings
    openings = []
    for opening in all {
      do throws(FreshetError) {
        let view = try tables.view(opening.request, opening.access)
        readers[opening.key] = FeedReader(opening.key, view, since: opening.since)
      } catch {
        // The request may have been checked against a newer schema than this tick's.
        if tables.connection.capture.hasMoved { openings.append(opening) } else { end(opening.key, error) }
      }
    }
  }

  func position(_ number: UInt64) -> String { positions.name(behind: number) }

  /// Called once a reader's tables have been read. From here on changes can be reported, also by the next process.
  func begin(_ reader: FeedReader) {
    let tables = reader.view.tables.values.map(\.table)
    let known = tables.map(\.knownSince)
    if known.contains(nil) { return }
    if configuration.journal?.hasKept(epoch, tables.map { $0.name.lowercased() }) == false { return mustKeep = true }
    reader.passed = log.last
    reader.told = clock.now
    guard let since = reader.since else { return send(.position(position(log.last)), to: reader) }
    let newest = known.compactMap(\.self).max() ?? 0
    if since == Self.oldest {
      let first = max(log.oldest, newest)
      reader.passed = first
      return send(.position(position(first)), to: reader)
    }
    if let number = positions.number(of: since), number >= max(log.oldest, newest), number <= log.last {
      reader.passed = number
      return
    }
    send(.gap(position: position(log.last), reason: "the position is older than what is remembered"), to: reader)
  }

  /// Readers send this word as `since` if they want all commits that are remembered. It is not a position.
  private static let oldest = "oldest"

  func send(_ message: ChangesMessage, to reader: FeedReader) {
    if case .gap = message { counts.gaps += 1 }
    reader.told = clock.now
    output.send(.changes(message), shape: .arrays, to: reader.key)
  }

  /// Sends a reader the commits that it has not been sent, as long as its session is drained.
  func deliver(to reader: FeedReader) {
    guard var passed = reader.passed else { return }
    if let failure = reader.view.failure {
      if tables?.connection.capture.hasMoved == true { return }
      forget(reader.key)
      return end(reader.key, failure)
    }
    let isQuiet = { [clock] in clock.now >= reader.told + Self.quietTime }
    if passed == log.last, !isQuiet() { return }
    if !output.isDrained(reader.key.session, for: waiter) { return }
    if passed < log.oldest {
      send(.gap(position: position(log.last), reason: "more has changed meanwhile than is remembered"), to: reader)
      reader.passed = log.last
      return
    }
    var sent = 0
    while passed < log.last, sent < Self.turnBytes {
      passed += 1
      do throws(FreshetError) { sent += try send(log[passed], to: reader) } catch {
        forget(reader.key)
        return end(reader.key, error)
      }
    }
    reader.passed = passed
    if isQuiet() { send(.position(position(passed)), to: reader) }
    // Otherwise delivery continues when the session has drained.
    if passed < log.last, output.isDrained(reader.key.session, for: waiter) { mustDeliver = true }
  }

  /// - Returns: the size of the message, in bytes.
  func send(_ commit: LoggedCommit, to reader: FeedReader) throws(FreshetError) -> Int {
    guard let tables else { return 0 }
    let position = positions.name(ofEntry: commit.number)
    let message = try tables.connection.deadline.limited(to: Self.filterTime, steps: Self.filterSteps) {
      () throws(FreshetError) in
      try reader.view.message(for: commit, position: position)
    }
    switch message {
    case .nothing: return 0
    case .changes(let members):
      send(.changes(position: position, members: members), to: reader)
      return members.count
    case .gap(let reason):
      send(.gap(position: position, reason: reason), to: reader)
      return 64
    }
  }
}
