import Foundation
import LiveQuery

/// Lays changes over results: each row by its key, in its sorted place and section. Pure.
///
/// Where the order is not known a row stays where it is, and an inserted one is the last of its section. Results with a window keep their
/// rows where they are: only values change, and new and deleted rows are the server's to show. A row that cannot be decoded stays
/// as the server has it.
///
/// Looking the keys up reads the rows until all are found.
struct OptimisticOverlay<Element: Sendable> {
  typealias Results = SectionedResults<Element>
  typealias Entry = Results.Entry

  let order: RowOrder
  let entry: ([SQLValue]) throws -> Entry

  func lay(_ outcomes: [(key: [SQLValue], outcome: OptimisticOutcome)], over base: Results) -> Results {
    var shown = base
    let paths = base.paths(ofKeys: Set(outcomes.map(\.key)))
    var gone: [IndexPath] = []
    var arriving: [Entry] = []
    for (key, outcome) in outcomes {
      let path = paths[key]
      let before = path.flatMap { base.sections[$0.section].rows[$0.item] }
      guard let values = outcome.values else {
        if let path, base.window == nil { gone.append(path) }
        continue
      }
      guard before != nil || (outcome.isInserted && base.window == nil) else { continue }
      guard var after = made(values, over: outcome.isInserted ? nil : before, base.columns) else { continue }
      guard let path, let before else {
        arriving.append(after)
        continue
      }
      let keepsPlace = base.window == nil ? order.keepsPlace(before.row.values, after.row.values) : nil
      if keepsPlace == false {
        gone.append(path)
        arriving.append(after)
      } else {
        after.pending = PendingState(isPlaced: keepsPlace != nil)
        shown.sections[path.section].rows[path.item] = after
      }
    }
    for path in gone.sorted(by: >) { shown.sections[path.section].rows.remove(at: path.item) }
    for entry in arriving { insert(entry, into: &shown) }
    if order.isSectioned || base.sections.count > 1 { shown.sections.removeAll { $0.count == 0 } }
    shown.count = shown.sections.reduce(0) { $0 + $1.count }
    return shown
  }

  private func made(_ values: [String: SQLValue], over before: Entry?, _ columns: [String]) -> Entry? {
    let row = columns.enumerated().map { index, name in values[name] ?? before?.row.values[index] ?? .null }
    return try? entry(row)
  }

  private func insert(_ entry: Entry, into results: inout Results) {
    var entry = entry
    let values = entry.row.values
    let (section, isKnown) = section(for: values, in: &results)
    let rows = results.sections[section].rows
    var (low, high) = (0, rows.count)
    var isPlaced = isKnown && order.compare(values, values) != nil
    while isPlaced && low < high {
      let middle = (low + high) / 2
      guard let other = rows[middle], let order = order.compare(other.row.values, values) else {
        isPlaced = false
        break
      }
      if order < 0 { low = middle + 1 } else { high = middle }
    }
    entry.pending = PendingState(isPlaced: isPlaced)
    results.sections[section].rows.insert(entry, at: isPlaced ? low : rows.count)
  }

  /// Makes it where it is missing.
  private func section(for values: [SQLValue], in results: inout Results) -> (index: Int, isKnown: Bool) {
    guard let term = order.section else {
      if results.sections.isEmpty {
        results.sections.append(.init(SectionInfo(name: .null, indexTitle: "", count: 0), .init()))
      }
      return (results.sections.count - 1, !order.isSectioned)
    }
    let name = values[term.column]
    if let index = results.sections.firstIndex(where: { term.compare($0.name, name) == 0 }) { return (index, true) }
    let following = order.sortsSections ? results.sections.firstIndex { term.compare($0.name, name) > 0 } : nil
    let index = following ?? results.sections.count
    results.sections.insert(.init(SectionInfo(name: name, indexTitle: name.initial, count: 0), .init()), at: index)
    return (index, order.sortsSections)
  }
}

extension SQLValue {
  /// The index title of a section that the server has not named yet.
  fileprivate var initial: String {
    switch self {
    case .null, .blob: ""
    case .integer(let number): String(String(number).prefix(1))
    case .real(let number): String(String(number).prefix(1))
    case .text(let text): text.prefix(1).uppercased()
    }
  }
}

extension SectionedResults {
  /// The columns of the key; nil when the rows do not have them.
  var keyColumns: [Int]? {
    let indexes = key.compactMap { columns.firstIndex(of: $0) }
    return indexes.count == key.count && !key.isEmpty ? indexes : nil
  }

  /// Where rows with contents are. Reads the rows until all are found.
  func paths(ofKeys keys: Set<[SQLValue]>) -> [[SQLValue]: IndexPath] {
    var paths: [[SQLValue]: IndexPath] = [:]
    guard !keys.isEmpty, let columns = keyColumns else { return paths }
    for (section, rows) in sections.lazy.map(\.rows).enumerated() {
      for (item, entry) in rows.indexedElements {
        guard let values = entry?.row.values else { continue }
        let key = columns.map { values[$0] }
        guard keys.contains(key) else { continue }
        paths[key] = IndexPath(item: item, section: section)
        if paths.count == keys.count { return paths }
      }
    }
    return paths
  }

  /// The key of a row; nil where its contents are not here.
  func key(at path: IndexPath) -> [SQLValue]? {
    guard let columns = keyColumns, let values = rowIfLoaded(at: path)?.values else { return nil }
    return columns.map { values[$0] }
  }
}
