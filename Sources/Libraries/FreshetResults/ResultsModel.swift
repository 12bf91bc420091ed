import Foundation
import LiveQuery
import Wire

/// Applies a subscription's messages in order: protocol 3.3. Pure.
///
/// State: `results`, which are at `version`; while the parts of a snapshot arrive, `coming` has the unfinished results
/// and no other message comes. After an error, neither may be used until a snapshot has come.
package struct ResultsModel<Element: Sendable> {
  package typealias Results = SectionedResults<Element>

  package internal(set) var results = Results()
  package internal(set) var version = ""
  private var coming: Results?
  /// No part of a snapshot is missing.
  var isComplete: Bool { coming == nil }
  /// The order of the rows.
  var ordering = Ordering(RowOrder(), columns: [])
  var layout = ResultRow.Columns([])
  private let decode: @Sendable (ResultRow) throws -> Element

  /// - Parameter decode: makes an element of a row; its error ends the list.
  package init(decode: @escaping @Sendable (ResultRow) throws -> Element) { self.decode = decode }

  /// - Returns: nil if there is nothing new to show yet.
  /// - Throws: `internal` for a message that does not fit the results, `bad_value` if a row cannot be decoded.
  package mutating func apply(_ message: ListMessage) throws(FreshetError) -> ResultsUpdate<Element>? {
    switch message {
    case .snapshot(let snapshot): return try begin(snapshot)
    case .rows(let rows): return try take(rows)
    case .patch(let patch):
      let patch = try apply(patch)
      return patch.isEmpty ? nil : ResultsUpdate(change: .patched(patch), results: results)
    case .located, .error, .delayed, .current, .laid: return nil
    }
  }

  private mutating func begin(_ snapshot: Snapshot) throws(FreshetError) -> ResultsUpdate<Element>? {
    var results = Results()
    layout = ResultRow.Columns(snapshot.columns)
    ordering = Ordering(snapshot.order, columns: snapshot.columns)
    results.columns = snapshot.columns
    results.key = snapshot.key
    results.commit = snapshot.commit
    results.count = snapshot.total
    results.totals = snapshot.totals.byName
    results.alongside = snapshot.alongside.byName
    if let window = snapshot.window { results.setWindow(window) }
    var counted = 0
    for info in snapshot.sections.infos {
      // Before memory is allocated: a server on the network may send anything.
      counted += info.count
      try require(info.count >= 0 && counted <= snapshot.total, "section counts and total disagree")
      results.sections.append(.init(info, RowSequence(repeatElement(nil, count: info.count))))
    }
    try require(counted == snapshot.total, "section counts and total disagree")
    version = snapshot.version
    coming = results
    var rows = RowsMessage(
      version: version, columns: snapshot.columns, window: nil, offset: snapshot.offset + snapshot.range.lowerBound,
      rows: snapshot.rows, range: snapshot.range)
    rows.isPart = snapshot.isPart
    return try take(rows)
  }

  private mutating func take(_ rows: RowsMessage) throws(FreshetError) -> ResultsUpdate<Element>? {
    try require(rows.version == version, "rows of another version than the one held")
    var target = coming ?? results
    if let window = rows.window { target.move(to: window) }
    try require(rows.offset >= 0 && rows.offset <= target.count - rows.range.count, "rows beyond the end of the list")
    let loaded = try put(rows.rows.values(rows.range), at: rows.offset, into: &target)
    if coming != nil {
      coming = rows.isComplete ? nil : target
      if !rows.isComplete { return nil }
      results = target
      return ResultsUpdate(change: .replaced, results: results)
    }
    // A window behind the last row loads nothing, and releases the contents held.
    let isSame = loaded.isEmpty && results.window == target.window
    results = target
    var patch = ResultsPatch()
    patch.loaded = loaded
    return isSame ? nil : ResultsUpdate(change: .patched(patch), results: results)
  }

  /// - Returns: the paths of rows whose contents were not held before.
  private func put(
    _ rows: [[SQLValue]], at offset: Int, into results: inout Results
  ) throws(FreshetError) -> [IndexPath] {
    var loaded: [IndexPath] = []
    guard var path = results.indexPath(atOffset: offset) else { return loaded }
    for (index, row) in rows.enumerated() {
      while path.item == results.sections[path.section].count { path = IndexPath(item: 0, section: path.section + 1) }
      // Contents outside the window would not be kept up to date.
      if results.window?.contains(offset + index) ?? true {
        if results.sections[path.section].rows[path.item] == nil { loaded.append(path) }
        results.sections[path.section].rows[path.item] = try entry(row)
      }
      path = IndexPath(item: path.item + 1, section: path.section)
    }
    return loaded
  }

  func entry(_ values: [SQLValue]) throws(FreshetError) -> Results.Entry {
    try require(values.count == layout.names.count, "a row of \(values.count) values in \(layout.names.count) columns")
    let row = ResultRow(layout: layout, values: values)
    do { return Results.Entry(row: row, element: try decode(row)) } catch {
      throw (error as? FreshetError) ?? FreshetError(.badValue, "\(row) is no \(Element.self): \(error)")
    }
  }
}

/// Throws an `internal` error if a message violates the protocol.
func require(_ condition: Bool, _ sentence: @autoclosure () -> String) throws(FreshetError) {
  if !condition { throw FreshetError(.internal, sentence()) }
}

extension [NamedValue] {
  var byName: [String: SQLValue] { Dictionary(map { ($0.name, $0.value) }) { $1 } }
}

extension SectionedResults.Section {
  init(_ info: SectionInfo, _ rows: RowSequence<SectionedResults.Entry?>) {
    value = info.name
    indexTitle = info.indexTitle
    totals = info.totals.byName
    self.rows = rows
  }
}

extension SectionedResults {
  /// Releases the contents outside a window.
  mutating func move(to next: Window) {
    let range = next.range(total: count)
    let before = window ?? 0..<count
    setWindow(next)
    forget(before.clamped(to: 0..<range.lowerBound))
    forget(before.clamped(to: range.upperBound..<max(range.upperBound, count)))
  }

  /// Releases the contents of rows in a range of offsets. O(sections + range), with small constants.
  mutating func forget(_ range: Range<Int>) {
    var start = 0
    for section in sections.indices {
      let count = sections[section].count
      let items = range.clamped(to: start..<start + count)
      if !items.isEmpty { sections[section].rows.clear(items.lowerBound - start..<items.upperBound - start) }
      start += count
    }
  }
}
