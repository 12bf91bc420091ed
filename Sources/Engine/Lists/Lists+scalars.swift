import LiveQuery
import QueryCompiler
import Requests
import Store

// Values in conditions that lists of their own keep (`CompiledQuery.scalarQueries`): `total = (SELECT max(total) FROM
// spent)` over a view that groups. Such a list is there as long as others need it, without clients, and a tick brings
// it up to date before them.
extension Lists {
  /// Opens the lists that a list needs.
  func holdScalars(of list: LiveList) {
    for (_, query) in list.compiled.scalarQueries {
      held[query, default: []].insert(list.id)
      if byQuery[query] == nil, openings[query] == nil { _ = find(query, nil, for: .server) }
    }
    // Others of its shape may be needed although it is not.
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

  /// The values that other lists keep for a list, by place; nil: one of them is not known at present.
  func scalars(of list: LiveList) -> [Int: SQLValue]? {
    var values: [Int: SQLValue] = [:]
    for (place, query) in list.compiled.scalarQueries {
      guard let other = byQuery[query], other.isFollowing, let value = try? other.reader.keptValue() else { return nil }
      values[place] = value
    }
    return values
  }
}
