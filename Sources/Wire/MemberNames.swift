import LiveQuery

extension MemberReader {
  /// - Throws: `bad_query` for a member that is none of these, with the one that was probably meant.
  func checkNames(_ known: [String]) throws(FreshetError) {
    guard let unknown = members.keys.filter({ !known.contains($0) }).min() else { return }
    let shown = unknown.prefix(64)
    let meant = known.map { (name: $0, distance: editDistance($0.lowercased(), shown.lowercased())) }
      .min { $0.distance < $1.distance }
    let hint = meant.flatMap { $0.distance <= 2 ? ": did you mean \($0.name)?" : nil }
    throw .badQuery(
      "\(prefix)\(shown) is no member of a query\(hint ?? ": there are \(known.joined(separator: ", "))")")
  }
}

/// How many letters have to be put in, taken out or replaced to make one text of the other.
private func editDistance(_ left: String, _ right: String) -> Int {
  let (left, right) = (Array(left.unicodeScalars), Array(right.unicodeScalars))
  var row = Array(0...right.count)
  for (i, letter) in left.enumerated() {
    var diagonal = row[0]
    row[0] = i + 1
    for (j, other) in right.enumerated() {
      let replaced = diagonal + (letter == other ? 0 : 1)
      diagonal = row[j + 1]
      row[j + 1] = min(replaced, row[j] + 1, diagonal + 1)
    }
  }
  return row[right.count]
}
