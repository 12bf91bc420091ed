/// The commits that a follower's ticks have seen. Each of these numbers belongs to one state only.
///
/// Its memory is limited: consecutive commits share one range, and the oldest ranges are forgotten.
package struct SeenCommits {
  /// Ascending, with gaps between them.
  private var ranges: [ClosedRange<Int64>] = []
  private static let most = 16_384

  /// - Parameter commit: not lower than any commit that was added.
  mutating func add(_ commit: Int64) {
    guard let last = ranges.last else {
      ranges = [commit...commit]
      return
    }
    if commit <= last.upperBound { return }
    if commit == last.upperBound + 1 {
      ranges[ranges.count - 1] = last.lowerBound...commit
      return
    }
    if ranges.count == Self.most { ranges.removeFirst(Self.most / 4) }
    ranges.append(commit...commit)
  }

  /// Adds commits that the previous process has seen.
  ///
  /// - Returns: false if they are not later than all commits so far.
  mutating func add(_ range: ClosedRange<Int64>) -> Bool {
    if let last = ranges.last, range.lowerBound <= last.upperBound { return false }
    ranges.append(range)
    return true
  }

  /// The newest ranges, ascending, which are kept for the next process.
  var newest: ArraySlice<ClosedRange<Int64>> { ranges.suffix(Self.most / 16) }

  /// O(log n).
  func contains(_ commit: Int64) -> Bool {
    var low = 0
    var high = ranges.count
    while low < high {
      let middle = (low + high) / 2
      if ranges[middle].upperBound < commit { low = middle + 1 } else { high = middle }
    }
    return low < ranges.count && ranges[low].contains(commit)
  }

  mutating func removeAll() { ranges = [] }
}

/// The commits at which a version is known for certain to have been its query's result. That it was the result at two
/// commits proves nothing about the commits in between, unless ticks saw them.
///
/// Its memory is limited: the oldest commits are forgotten first.
package struct KnownCommits {
  /// Single commits, ascending, under which the version was sent, or at which a reader saw it. The first is stored
  /// separately, because most versions have only one.
  private var single: Int64?
  private var singles: [Int64] = []
  /// Spans in which every commit of `SeenCommits` is known. The first is stored separately too.
  private var span: Span?
  private var spans: [Span] = []

  private struct Span {
    var first: Int64
    /// The last commit of the span; `max` while the span is open.
    var last: Int64

    func contains(_ commit: Int64) -> Bool { first <= commit && commit <= last }
  }

  private static let mostSingles = 4_096
  private static let mostSpans = 64

  /// Begins a span: from this commit on, every commit that a tick sees is known.
  mutating func begin(at commit: Int64) {
    if let open = span, open.last == .max { return }
    if let before = span {
      if spans.count == Self.mostSpans { spans.removeFirst(Self.mostSpans / 4) }
      spans.append(before)
    }
    span = Span(first: commit, last: .max)
  }

  /// The first commit of the open span; nil if no span is open.
  package var openFrom: Int64? { span?.last == .max ? span?.first : nil }

  /// Called when the open span has begun earlier.
  mutating func extend(to first: Int64) {
    if let open = span, open.last == .max, first < open.first { span?.first = first }
  }

  /// Ends the open span: commits after this one are not known.
  mutating func end(at commit: Int64) {
    guard let open = span, open.last == .max else { return }
    span = commit >= open.first ? Span(first: open.first, last: commit) : spans.popLast()
  }

  /// Adds a commit at which the version was the result.
  mutating func add(_ commit: Int64) {
    guard let single else { return self.single = commit }
    let last = singles.last ?? single
    if commit <= last { return }
    if singles.count == Self.mostSingles { singles.removeFirst(Self.mostSingles / 4) }
    singles.append(commit)
  }

  /// - Parameter seen: the commits that the follower's ticks have seen.
  package func contains(_ commit: Int64, _ seen: SeenCommits) -> Bool {
    if single == commit { return true }
    if spans(commit), seen.contains(commit) { return true }
    var low = 0
    var high = singles.count
    while low < high {
      let middle = (low + high) / 2
      if singles[middle] < commit { low = middle + 1 } else { high = middle }
    }
    return low < singles.count && singles[low] == commit
  }

  private func spans(_ commit: Int64) -> Bool {
    guard let span else { return false }
    return span.contains(commit) || spans.contains { $0.contains(commit) }
  }

  /// The highest known commit; nil if no commit is known, `max` while a span is open.
  var last: Int64? {
    guard let single = singles.last ?? single else { return span?.last }
    return max(single, span?.last ?? single)
  }
}
