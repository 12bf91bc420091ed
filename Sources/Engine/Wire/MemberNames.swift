import LiveQuery

extension MemberReader {
  /// - Throws: `bad_query` for an unknown member; the message suggests the one that was probably meant.
  func checkNames(_ known: [String]) throws(FreshetError) {
    guard let unknown = members.keys.filter({ !known.contains($0) }).min() else { return }
    let shown = unknown.prefix(64)
    let hint = Spelling.hint(for: String(shown), of: known)
    throw .badQuery(
      "\(prefix)\(shown) is no member of a query\(hint ?? ": there are \(known.joined(separator: ", "))")")
  }
}
