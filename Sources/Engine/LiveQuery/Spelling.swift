/// Suggestions for misspelt names.
package enum Spelling {
  /// The name that a word becomes if the fewest letters are inserted, removed or replaced; nil if more than two
  /// letters, or more than half of the word, would have to change.
  package static func nearest(to word: String, of names: some Sequence<String>) -> String? {
    let word = word.lowercased()
    let nearest = names.map { (name: $0, distance: editDistance($0.lowercased(), word)) }.min {
      $0.distance < $1.distance
    }
    return nearest.flatMap { $0.distance <= min(2, word.count / 2) ? $0.name : nil }
  }

  /// The end of a sentence about an unknown name, which suggests the name that was probably meant; nil if there is no
  /// such name.
  package static func hint(for word: String, of names: some Sequence<String>) -> String? {
    nearest(to: word, of: names).map { ": did you mean \($0)?" }
  }

  private static func editDistance(_ left: String, _ right: String) -> Int {
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
}
