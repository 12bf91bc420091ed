import LiveQuery

/// Removes some rows, and inserts others at their sorted position and in their section. Pure.
///
/// State: `results`, whose window is in `held`; `placed`, the inserted rows. The held rows have no holes.
struct OptimisticPlacing<Element: Sendable> {
  typealias Results = SectionedResults<Element>
  typealias Entry = Results.Entry

  /// The position of a row.
  struct Place {
    var section: Int
    var item: Int
    var offset: Int
    var isNewSection = false
    /// Whether its contents are shown: it is not among rows whose contents are unknown.
    var isHeld: Bool
    /// Whether its position is certain.
    var isExact: Bool
    /// For a row that is not held: whether it precedes the held rows.
    var isBeforeHeld = false
  }

  private(set) var results: Results
  /// The inserted rows, by number, and their present offsets.
  private(set) var placed: [(number: Int, offset: Int)] = []
  private let order: Ordering
  private var held: Range<Int>

  init(_ results: Results, order: Ordering) {
    self.results = results
    self.order = order
    held = results.window ?? 0..<results.count
  }

  /// The results, without sections that have become empty.
  func finished() -> Results {
    var results = results
    let isOne = order.isSectioned.map { !$0 } ?? (results.sections.map(\.value) == [""])
    if !isOne { results.sections.removeAll { $0.count == 0 } }
    if results.window != nil { results.window = held }
    return results
  }

  /// - Precondition: there is such a row, and no row was inserted yet.
  mutating func remove(at offset: Int) {
    guard let path = results.indexPath(atOffset: offset) else { preconditionFailure("there is no row \(offset)") }
    results.sections[path.section].rows.remove(at: path.item)
    results.count -= 1
    let (first, last) = (held.lowerBound, held.upperBound)
    held = (offset < first ? first - 1 : first)..<(offset < last ? last - 1 : last)
  }

  mutating func replace(at offset: Int, by entry: Entry) {
    guard let path = results.indexPath(atOffset: offset) else { preconditionFailure("there is no row \(offset)") }
    results.sections[path.section].rows[path.item] = entry
  }

  mutating func insert(_ entry: Entry, number: Int) {
    var entry = entry
    let place = place(of: entry.row.values)
    if place.isNewSection {
      let name = order.section?.value(entry.row.values) ?? .null
      results.sections.insert(
        .init(SectionInfo(name: name, indexTitle: name.initial, count: 0), .init()), at: place.section)
    }
    entry.pending = PendingState(isPlaced: place.isExact)
    results.sections[place.section].rows.insert(place.isHeld ? entry : nil, at: place.item)
    results.count += 1
    for index in placed.indices where placed[index].offset >= place.offset { placed[index].offset += 1 }
    placed.append((number, place.offset))
    let (first, last) = (held.lowerBound, held.upperBound)
    if place.isHeld { held = first..<last + 1 } else if place.isBeforeHeld { held = first + 1..<last + 1 }
  }

  /// Beyond the first or last held row, and in a section without held rows, the position is unknown: the row counts
  /// there, without contents.
  func place(of values: [SQLValue]) -> Place {
    let section = section(for: values)
    let start = results.sections.prefix(section.index).reduce(0) { $0 + $1.count }
    let count = section.isNew ? 0 : results.sections[section.index].count
    let rows = held.clamped(to: start..<start + count)
    func place(_ offset: Int, isExact: Bool, isHeld: Bool, isBeforeHeld: Bool) -> Place {
      Place(
        section: section.index, item: offset - start, offset: offset, isNewSection: section.isNew, isHeld: isHeld,
        isExact: isExact, isBeforeHeld: isBeforeHeld)
    }
    if rows.isEmpty && count > 0 {
      return place(start + count, isExact: false, isHeld: false, isBeforeHeld: start + count <= held.lowerBound)
    }
    let rank =
      section.isKnown ? rank(of: values, in: section.index, rows.lowerBound - start..<rows.upperBound - start) : nil
    let offset = rank.map { start + $0 } ?? rows.upperBound
    let isFirst = offset == rows.lowerBound && offset > start
    let isLast = offset == rows.upperBound && offset < start + count
    if isFirst || isLast { return place(offset, isExact: false, isHeld: false, isBeforeHeld: isFirst) }
    let isHeld = !results.holdsNothing && offset >= held.lowerBound && offset <= held.upperBound
    return place(offset, isExact: rank != nil, isHeld: isHeld, isBeforeHeld: offset < held.lowerBound)
  }

  /// The first of some held rows that this one precedes; nil if the order is unknown.
  private func rank(of values: [SQLValue], in section: Int, _ items: Range<Int>) -> Int? {
    guard order.compare(values, values) != nil else { return nil }
    var (low, high) = (items.lowerBound, items.upperBound)
    while low < high {
      let middle = (low + high) / 2
      guard let other = results.sections[section].rows[middle] else { return nil }
      guard let order = order.compare(other.row.values, values) else { return nil }
      if order < 0 { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private func section(for values: [SQLValue]) -> (index: Int, isNew: Bool, isKnown: Bool) {
    let sections = results.sections
    guard let term = order.section, let name = term.value(values) else {
      return (max(sections.count - 1, 0), sections.isEmpty, order.isSectioned == false)
    }
    if let index = sections.firstIndex(where: { term.compare($0.value, name) == 0 }) { return (index, false, true) }
    let following = order.sortsSections ? sections.firstIndex { term.compare($0.value, name) > 0 } : nil
    return (following ?? sections.count, true, order.sortsSections)
  }
}

extension SQLValue {
  /// The index title of a section that the server has not named yet.
  fileprivate var initial: String {
    switch self {
    case .null, .blob: ""
    case .integer(let number): String(String(number).prefix(1))
    case .real(let number): String(String(number).prefix(1))
    case .text(let text): String(text.unicodeScalars.prefix(1)).uppercased()
    }
  }
}
