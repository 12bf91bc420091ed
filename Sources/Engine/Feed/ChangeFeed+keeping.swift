import ChangeCapture
import Following
import Ground
import LiveQuery
import Logging
import Store
import Wire

// Keeps the feed's state for the next process.
extension ChangeFeed {
  var state: FeedJournal.State? {
    guard let tables, !tables.isEmpty, restored == nil, carried == nil,
      let state = CaptureState(of: tables.connection.capture)
    else { return nil }
    return .init(
      state: state, memory: .init(epoch: epoch, number: log.last, known: tables.known, commit: commit))
  }

  /// Keeps a state if it is due. To be called between ticks.
  func keepState() {
    guard let journal = configuration.journal, !mustTick,
      mustKeep || (keptNumber != log.last && clock.now >= nextState)
    else { return }
    guard let state else {
      // Readers do not wait if no state can be made, for example because the file is locked.
      if mustKeep, let tables, carried == nil { journal.noteKept(epoch, tables.known) }
      return mustKeep = false
    }
    mustKeep = false
    keptNumber = log.last
    nextState = clock.now + Self.stateInterval
    journal.keep(state) { [wake] in wake.signal() }
  }

  /// Keeps what a tick has added to the log, before any reader gets it.
  func keepEntries(after number: UInt64) {
    guard let journal = configuration.journal, log.last > number else { return }
    // A tick may add more entries than the log remembers.
    if number < log.oldest || journal.append(log.entries(after: number), limit: configuration.historyBytes) {
      beginJournal()
    }
  }

  /// Begins to keep the entries from here on.
  func beginJournal() {
    configuration.journal?.begin(epoch: epoch, log.entries(after: 0))
    keptNumber = nil
    nextState = .distantPast
  }
}
