import GRDB

/// Where a row of the list stands, and what decides it, as a plain SELECT tells.
struct Placed {
  var id: Int
  var county: String
  var name: String
  /// Everything else.
  var content: String

  static func all(_ db: Database) throws -> [Placed] {
    let sql = "SELECT id, county, name, operator || '|' || status || '|' || depth FROM well ORDER BY county, name, id"
    return try Row.fetchAll(db, sql: sql).map { Placed(id: $0[0], county: $0[1], name: $0[2], content: $0[3]) }
  }
}

/// The fewest operations that lead from one list to another: an oracle that shares nothing with the engine.
/// Rows whose sort values are as they were stay. Of the others, those stay that keep their order between the same
/// neighbours; protocol 3.3 permits no more.
func fewestOperations(from old: [Placed], to new: [Placed]) -> Int {
  let before = Dictionary(uniqueKeysWithValues: old.map { ($0.id, $0) })
  let after = Dictionary(uniqueKeysWithValues: new.map { ($0.id, $0) })
  let oldCounties = Set(old.map(\.county))
  let newCounties = Set(new.map(\.county))
  var operations = oldCounties.symmetricDifference(newCounties).count
  // Rows of a section that goes or comes are in no list of their own.
  operations += old.count { newCounties.contains($0.county) && isGone($0, after, oldCounties) }
  operations += new.count { oldCounties.contains($0.county) && isGone($0, before, newCounties) }

  let fixed = Set(new.filter { before[$0.id]?.county == $0.county && before[$0.id]?.name == $0.name }.map(\.id))
  let oldPlaces = places(old, fixed)
  let newPlaces = places(new, fixed)
  var gaps: [Int: [(old: Int, new: Int)]] = [:]
  for (id, place) in newPlaces {
    guard let from = oldPlaces[id], let row = before[id], let now = after[id] else { continue }
    // A row that left a deleted section, or came into a new one, is counted above.
    guard newCounties.contains(row.county), oldCounties.contains(now.county) else { continue }
    if row.county == now.county, from.gap == place.gap {
      gaps[place.gap, default: []].append((from.position, place.position))
    } else {
      operations += 1
    }
  }
  var stayed = 0
  for rows in gaps.values {
    let run = longestRun(rows.sorted { $0.new < $1.new }.map(\.old))
    stayed += run
    operations += rows.count - run
  }
  // A row that stays and was renamed, or differs in its contents, is sent as an update.
  return operations + stayed + fixed.count { before[$0]?.content != after[$0]?.content }
}

/// Whether a row is not in the other list, or is there in a section that only the other list has.
private func isGone(_ row: Placed, _ others: [Int: Placed], _ counties: Set<String>) -> Bool {
  guard let other = others[row.id] else { return true }
  return !counties.contains(other.county)
}

/// For every row that is not fixed: how many fixed ones come before it, and its place in the list.
private func places(_ rows: [Placed], _ fixed: Set<Int>) -> [Int: (gap: Int, position: Int)] {
  var result: [Int: (gap: Int, position: Int)] = [:]
  var gap = 0
  for (position, row) in rows.enumerated() {
    if fixed.contains(row.id) { gap += 1 } else { result[row.id] = (gap, position) }
  }
  return result
}

/// The length of a longest increasing subsequence.
private func longestRun(_ values: [Int]) -> Int {
  var ends: [Int] = []
  for value in values {
    var low = 0
    var high = ends.count
    while low < high {
      let middle = (low + high) / 2
      if ends[middle] < value { low = middle + 1 } else { high = middle }
    }
    if low == ends.count { ends.append(value) } else { ends[low] = value }
  }
  return ends.count
}
