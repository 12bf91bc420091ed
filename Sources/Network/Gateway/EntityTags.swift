/// The versions of an answer that an If-None-Match header names: a list, weak or strong, or `*` for any.
package struct EntityTags {
  private let tags: [String]

  package init(_ header: String?) {
    tags = (header ?? "").split(separator: ",").map { part in
      var tag = part.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" }
      if tag.hasPrefix("W/") { tag = tag.dropFirst(2) }
      return String(tag)
    }
  }

  /// The first versions named.
  package var versions: [String] {
    tags.prefix(16).compactMap {
      $0.count > 2 && $0.hasPrefix("\"") && $0.hasSuffix("\"") ? String($0.dropFirst().dropLast()) : nil
    }
  }

  package func contains(_ version: String) -> Bool { tags.contains("*") || tags.contains("\"\(version)\"") }
}
