import Foundation
import LiveQuery

extension SectionedResults {
  /// The columns of the key; nil if the rows do not have them.
  var keyColumns: [Int]? {
    let indexes = key.compactMap { columns.firstIndex(of: $0) }
    return indexes.count == key.count && !key.isEmpty ? indexes : nil
  }

  /// The offsets of rows with contents. Reads rows until all keys are found.
  func offsets(ofKeys keys: Set<[SQLValue]>) -> [[SQLValue]: Int] {
    var offsets: [[SQLValue]: Int] = [:]
    guard !keys.isEmpty, let columns = keyColumns else { return offsets }
    var start = 0
    for rows in sections.lazy.map(\.rows) {
      let held = (window ?? 0..<count).clamped(to: start..<start + rows.count)
      for (offset, entry) in zip(held, rows.elements(from: held.lowerBound - start)) {
        guard let values = entry?.row.values else { continue }
        let key = columns.map { values[$0] }
        guard keys.contains(key) else { continue }
        offsets[key] = offset
        if offsets.count == keys.count { return offsets }
      }
      start += rows.count
    }
    return offsets
  }
}

/// Index paths of one state, by offset and vice versa. O(sections) to make, O(log sections) to use.
struct PathTable<Element: Sendable> {
  let results: SectionedResults<Element>
  /// Offsets of the sections' first rows, and the total.
  private var starts = [0]
  private let keyColumns: [Int]?

  init(_ results: SectionedResults<Element>) {
    self.results = results
    keyColumns = results.keyColumns
    for section in results.sections { starts.append(starts.last! + section.count) }
  }

  func offset(of path: IndexPath) -> Int { starts[path.section] + path.item }

  func offsets(ofSection section: Int) -> Range<Int> { starts[section]..<starts[section + 1] }

  /// - Precondition: there is such a row.
  func path(of offset: Int) -> IndexPath {
    var (low, high) = (0, starts.count - 1)
    while high - low > 1 {
      let middle = (low + high) / 2
      if starts[middle] <= offset { low = middle } else { high = middle }
    }
    return IndexPath(item: offset - starts[low], section: low)
  }

  /// Nil if its contents are not held.
  func entry(at offset: Int) -> SectionedResults<Element>.Entry? {
    let path = path(of: offset)
    return results.sections[path.section].rows[path.item]
  }

  /// The key of a row; nil if its contents are not held.
  func key(at offset: Int) -> [SQLValue]? {
    guard let keyColumns, let values = entry(at: offset)?.row.values else { return nil }
    return keyColumns.map { values[$0] }
  }
}
