/// Makes failing inputs smaller while they still fail, within a bound of time, after which they stay as they are.
///
/// Delta debugging: it leaves out pieces, first halves and last single elements. O(n log n) attempts where one element
/// is to blame, O(n²) at worst.
package struct Shrinker: Sendable {
  private let isOver: @Sendable () -> Bool

  /// Two minutes from the first failure in this process: if there are many failures, not every run need be small.
  package static let ofProcess: Shrinker = {
    let end = ContinuousClock.now + .seconds(120)
    return Shrinker { ContinuousClock.now >= end }
  }()

  /// - Parameter isOver: asked before each attempt.
  package init(isOver: @escaping @Sendable () -> Bool) { self.isOver = isOver }

  package var hasTime: Bool { !isOver() }

  /// A shortest sequence that still fails: without any one of its elements it does not.
  ///
  /// - Parameters:
  ///   - all: elements that fail together.
  ///   - fails: whether some of them, in the same order, still do.
  package func shrink<Element>(_ all: [Element], fails: ([Element]) throws -> Bool) rethrows -> [Element] {
    var least = all
    var length = max(1, all.count / 2)
    while true {
      let before = least.count
      var start = 0
      while start < least.count {
        if isOver() { return least }
        var shorter = least
        shorter.removeSubrange(start..<min(start + length, least.count))
        if try fails(shorter) { least = shorter } else { start += length }
      }
      // Leaving one element out may allow to leave out an earlier one.
      if length == 1, least.count == before { return least }
      length = max(1, length / 2)
    }
  }

  /// Finds a value that fails and has no simpler form that fails.
  ///
  /// - Parameter simpler: forms that are simpler in one respect; the chain of them must end.
  package func simplify<Value>(
    _ value: Value, _ simpler: (Value) -> [Value], fails: (Value) throws -> Bool
  ) rethrows -> Value {
    var least = value
    search: while true {
      for form in simpler(least) {
        if isOver() { return least }
        if try fails(form) {
          least = form
          continue search
        }
      }
      return least
    }
  }

  /// Fewer steps; then, in those that commit, fewer statements, and fewer rows in each.
  package func shrinkSteps(_ steps: [RunStep], fails: ([RunStep]) throws -> Bool) throws -> [RunStep] {
    var least = try shrink(steps, fails: fails)
    for index in least.indices {
      guard case .commit(let sql) = least[index] else { continue }
      func failsWith(_ lines: [String]) throws -> Bool {
        var other = least
        other[index] = .commit(lines.joined(separator: "\n"))
        return try fails(other)
      }
      var lines = sql.split(separator: "\n").map(String.init)
      // A transaction loses its beginning and its end together.
      let isWrapped = lines.count > 2 && lines[0] == "BEGIN;"
      let wrap = { (body: [String]) in isWrapped ? [lines[0]] + body + [lines[lines.count - 1]] : body }
      let body = try shrink(Array(isWrapped ? lines.dropFirst().dropLast() : lines[...])) { body in
        try failsWith(wrap(body))
      }
      lines = wrap(body)
      if isWrapped, body.count == 1, try failsWith(body) { lines = body }
      for line in lines.indices {
        guard let (head, rows, end) = Self.rows(of: lines[line]) else { continue }
        let text = { (rows: [String]) in head + rows.joined(separator: ", ") + end }
        let fewer = try shrink(rows) { rows in
          var other = lines
          other[line] = text(rows)
          return rows.isEmpty ? false : try failsWith(other)
        }
        lines[line] = text(fewer)
      }
      least[index] = .commit(lines.joined(separator: "\n"))
    }
    return least
  }

  /// The rows of an `INSERT … VALUES (…), (…);` whose values hold no text like `), (`.
  private static func rows(of line: String) -> (head: String, rows: [String], end: String)? {
    guard let start = line.firstRange(of: "VALUES ("), let end = line.lastIndex(of: ")") else { return nil }
    let rows = line[line.index(before: start.upperBound)..<end].split(
      separator: "), (", omittingEmptySubsequences: false)
    guard rows.count > 1 else { return nil }
    let whole = rows.enumerated().map { ($0 == 0 ? "" : "(") + $1 + ")" }
    return (String(line[..<line.index(before: start.upperBound)]), whole, String(line[line.index(after: end)...]))
  }
}
