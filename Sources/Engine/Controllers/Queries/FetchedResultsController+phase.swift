import ChangeCapture
import LiveQuery
import RankedCollections
import Store

extension FetchedResultsController {
  /// How its newest version relates to the state that the last tick saw.
  enum Phase {
    /// It shows that state.
    case following
    /// It shows the state of this number, an older one, until it is run again at `due`.
    case stale(shown: CommitNumber, due: Instant)
    /// A reader runs it.
    case running(Run)
  }

  /// A run on a reader's thread, at a state not older than the one at which it was asked for.
  struct Run {
    let id: UInt64
    /// The state that is shown until then.
    var shown: CommitNumber
    /// That of the last tick when it was asked for.
    let asked: Int64
    /// How many ticks had seen another state than the one before, by then.
    let ticks: Int
    /// The state that the reader sees, if a tick has gone to it or through it: then `missed` is all that differs from it.
    var passed: StateName?
    /// What changed since then.
    var missed = Missed()
  }

  /// What changed while a reader ran the query: looked up afterwards, it brings the run's result to the newest state.
  struct Missed {
    /// Nil: not known, or too many.
    var units: ConcernedUnits? = ConcernedUnits()
    var concernsAlongside = false

    static let unknown = Missed(units: nil)

    var isNothing: Bool { units?.isEmpty == true && !concernsAlongside }

    mutating func add(_ more: ConcernedUnits?, limit: Int) {
      guard let more, units != nil else {
        units = nil
        return
      }
      units!.add(more)
      if units!.count > limit { units = nil }
    }
  }

  /// Whether it shows the state that the last tick saw.
  var isCurrent: Bool { if case .following = phase { true } else { false } }
  /// The number of the state that it shows.
  var shown: CommitNumber { shownBefore ?? commits.number }
  /// The same, when it is an older state than the one that the last tick saw.
  var shownBefore: CommitNumber? {
    switch phase {
    case .following: nil
    case .stale(let shown, _): shown
    case .running(let run): run.shown
    }
  }
  /// Whether contents of its newest version's rows can be read: they are kept, or the file is in the state that it shows.
  var canReadContents: Bool { isCurrent || reader.keepsContents(ofRows: result.editor.tree.count) }
}
