import LiveQuery
import QueryCompiler
import Requests
import Store

// Keeps values in conditions by lists of their own (`CompiledQuery.scalarQueries`), such as `total = (SELECT max(total)
// FROM spent)` over a view that groups. Such a list has no clients, and exists as long as other lists need it. A tick
// brings it up to date before them.
extension Lists {
  /// Opens the lists that a list needs.
  func holdScalars(of list: LiveList) {
    for (_, query) in list.compiled.scalarQueries {
      held[query, default: []].insert(list.id)
      if byQuery[query] == nil, openings[query] == nil { _ = find(query, nil, for: .server) }
    }
    // Other lists of its shape may be needed, even if this one is not.
    if held[list.query] != nil { list.shape.comesFirst = true }
    for (_, query) in list.compiled.scalarQueries { byQuery[query]?.shape.comesFirst = true }
    evaluation.holdsScalars = !held.isEmpty
  }

  func releaseScalars(of list: LiveList) {
    for (query, lists) in held where lists.contains(list.id) {
      held[query] = lists.count > 1 ? lists.subtracting([list.id]) : nil
      if held[query] == nil, let other = byQuery[query] { noteIdle(other) }
    }
  }

  /// The values that other lists keep for a list, by index; nil if one of them is unknown at present.
  func scalars(of list: LiveList) -> [Int: SQLValue]? {
    var values: [Int: SQLValue] = [:]
    for (place, query) in list.compiled.scalarQueries {
      guard let other = byQuery[query], other.isFollowing, let value = try? other.reader.keptValue() else { return nil }
      values[place] = value
    }
    return values
  }
}
