import LiveQuery

/// The server's results with changes laid over them: each row by its key, at its sorted position and in its section. A
/// value.
///
/// If the order is unknown, a changed row keeps its position, and an inserted one is the last of its section. A row
/// that cannot be decoded stays as the server has it.
///
/// **With a window**, the rows that are held stay one range. Rows that are inserted among them, or next to them if
/// their position is certain, are shown and lengthen the range; removed rows shorten it. A row whose position is beyond
/// the first or last row that is held, or in a section without held rows, cannot be placed: it counts in its section,
/// next to the held rows or at the section's end, and only the server can show its contents. The server's patches
/// continue to track a row that was held when a change was laid over it, even after it has left the window.
struct OptimisticOverlay<Element: Sendable> {
  typealias Results = SectionedResults<Element>
  typealias Entry = Results.Entry
  typealias Steps = [(key: [SQLValue], steps: [OptimisticChange])]

  /// The effect of the changes on one row.
  struct Effect {
    let key: [SQLValue]
    /// The row's offset in the server's results; nil: they have no such row, or its offset is unknown.
    let offset: Int?
    /// The row as the server last had it, if held.
    let before: Entry?
    /// The resulting row; nil: it is deleted, or nothing is known about it.
    let after: Entry?
    let isGone: Bool
  }

  /// The server's results.
  let base: PathTable<Element>
  /// The results that are shown.
  let results: PathTable<Element>
  let effects: [Effect]
  private(set) var offsets = OverlayOffsets()
  /// Where rows are shown that the server has at another position, by their offsets there.
  private var moved: [Int: Int] = [:]
  /// Where rows are shown that the server does not have.
  private(set) var inserted: [(key: [SQLValue], offset: Int)] = []

  /// Lays no change over the results.
  init(_ base: Results) {
    self.base = PathTable(base)
    results = self.base
    effects = []
  }

  init(_ effects: [Effect], over base: PathTable<Element>, order: Ordering) {
    self.base = base
    self.effects = effects
    var rows = OptimisticPlacing(base.results, order: order)
    var leaving: [Int] = []
    var arriving: [Int] = []
    var outside: [Int] = []
    for (number, effect) in effects.enumerated() {
      if effect.isGone, let offset = effect.offset { leaving.append(offset) }
      guard var after = effect.after else { continue }
      guard let offset = effect.offset else {
        arriving.append(number)
        continue
      }
      guard let before = base.entry(at: offset) else {
        outside.append(number)
        continue
      }
      let isSamePlace = order.isSamePlace(before.row.values, after.row.values)
      if isSamePlace == false {
        leaving.append(offset)
        arriving.append(number)
      } else {
        after.pending = PendingState(isPlaced: isSamePlace != nil)
        rows.replace(at: offset, by: after)
      }
    }
    for offset in leaving.sorted(by: >) { rows.remove(at: offset) }
    // Rows outside the window keep their position, unless they move into it.
    let coming = outside.filter { rows.place(of: effects[$0].after!.row.values).isHeld }
    let rest = OffsetSet(leaving)
    for offset in coming.map({ rest.rank(of: effects[$0].offset!) }).sorted(by: >) { rows.remove(at: offset) }
    leaving += coming.map { effects[$0].offset! }
    for number in arriving + coming { rows.insert(effects[number].after!, number: number) }
    offsets = OverlayOffsets(gone: OffsetSet(leaving), placed: OffsetSet(rows.placed.map(\.offset)))
    for (number, offset) in rows.placed {
      if let source = effects[number].offset {
        moved[source] = offset
      } else {
        inserted.append((effects[number].key, offset))
      }
    }
    var shown = rows.finished()
    shown.overlay = offsets
    results = PathTable(shown)
  }

  /// Where a row of the server's is shown; nil: it is not.
  func shownOffset(_ offset: Int) -> Int? { moved[offset] ?? offsets.shown(offset) }

  /// - Parameters:
  ///   - before: the overlay of the last state.
  ///   - correspondence: nil: nothing is known about the last state's rows.
  static func effects(
    of steps: Steps, over base: PathTable<Element>, before: Self, _ correspondence: BaseCorrespondence?,
    entry: ([SQLValue]) throws -> Entry
  ) -> [Effect] {
    let known = Dictionary(before.effects.map { ($0.key, $0) }) { first, _ in first }
    var offsets: [[SQLValue]: Int] = [:]
    var unknown: Set<[SQLValue]> = []
    for key in steps.map(\.key) {
      guard let last = known[key], let correspondence else {
        unknown.insert(key)
        continue
      }
      if let offset = last.offset.flatMap(correspondence.newOffset), base.key(at: offset).map({ $0 == key }) ?? true {
        // A row that is not held keeps the offset that the patches give.
        offsets[key] = offset
      } else if base.results.window != nil {
        unknown.insert(key)
      } else {
        offsets[key] = correspondence.inserted.first { base.key(at: $0) == key }
      }
    }
    offsets.merge(base.results.offsets(ofKeys: unknown)) { first, _ in first }
    return steps.map { key, steps in
      let offset = offsets[key]
      let held = offset.flatMap { base.entry(at: $0) ?? known[key]?.before }
      let after = steps.row(over: held?.row.values, columns: base.results.columns).flatMap { try? entry($0) }
      return Effect(key: key, offset: offset, before: held, after: after, isGone: steps.isGone)
    }
  }
}
