import Store

/// The columns' names, as a table can have them.
enum ColumnNames {
  /// Names of the header: trimmed, empty ones `column1` by their place, repeated ones numbered from 2.
  ///
  /// SQLite takes names for one that differ in the case of A to Z alone.
  static func cleaned(_ header: [String]) -> [String] {
    let trimmed = header.map { String($0.drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed()) }
    let named = trimmed.enumerated().map { $1.isEmpty ? "column\($0 + 1)" : $1 }
    var taken: Set<String> = []
    // A name in the file keeps its spelling, even if another name would become equal to it by its number.
    let all = Set(named.map(folded))
    return named.map { name in
      if taken.insert(folded(name)).inserted { return name }
      let number = (2...).first { !taken.contains(folded("\(name)\($0)")) && !all.contains(folded("\(name)\($0)")) }!
      taken.insert(folded("\(name)\(number)"))
      return "\(name)\(number)"
    }
  }

  /// `column1` to `columnN`.
  static func numbered(_ count: Int) -> [String] { (1...count).map { "column\($0)" } }

  /// The first of `name`, `name2`, `name3` … that is not among `names`.
  static func unused(_ name: String, _ names: [String]) -> String {
    let candidates = [name] + (2...names.count + 2).map { "\(name)\($0)" }
    return candidates.first { candidate in !names.contains { isSameName($0, candidate) } }!
  }

  private static func folded(_ name: String) -> String {
    String(decoding: name.utf8.map { $0 >= 0x41 && $0 <= 0x5A ? $0 | 0x20 : $0 }, as: UTF8.self)
  }
}
