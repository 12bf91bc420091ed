/// The name of a database in a folder: its path there, without its ending.
///
/// A name is never a path that leads elsewhere: its parts are neither empty nor hidden, and have no character that a
/// file system or a terminal takes for something else.
package struct DatabaseName: Hashable, Comparable, Sendable, CustomStringConvertible {
  package let description: String

  private static let longest = 512
  private static let longestPart = 240

  /// - Returns: nil if the text is not a valid name.
  package init?(_ text: String) {
    guard !text.isEmpty, text.utf8.count <= Self.longest else { return nil }
    for part in text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
      guard let first = part.first, first != UInt8(ascii: "."), part.count <= Self.longestPart else { return nil }
    }
    guard text.unicodeScalars.allSatisfy(Self.isPlain) else { return nil }
    description = text
  }

  /// U+FFFD is refused: it stands for bytes that were not UTF-8, so several files would have one name.
  private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .surrogate, .lineSeparator, .paragraphSeparator: false
    default: scalar != "\\" && scalar != "\u{FFFD}"
    }
  }

  /// Whether a pattern of the configuration is for it, in which `*` stands for `/` too.
  func fits(_ pattern: String) -> Bool { NamePattern.matches(description, pattern, crossesFolders: true) }

  package static func < (a: DatabaseName, b: DatabaseName) -> Bool {
    a.description.utf8.lexicographicallyPrecedes(b.description.utf8)
  }

  // By bytes, as file systems compare: Swift takes two spellings of one letter for the same.
  package static func == (a: DatabaseName, b: DatabaseName) -> Bool {
    a.description.utf8.elementsEqual(b.description.utf8)
  }

  package func hash(into hasher: inout Hasher) {
    for byte in description.utf8 { hasher.combine(byte) }
  }
}

/// The parts of a request's path: an optional database, and the route.
struct DatabasePath {
  /// As the client has written it; nil: the path names none.
  let name: String?
  /// A route's path.
  let route: String

  static let prefix = "/db/"
  /// The path of the pages that come with the program, also below each database.
  static let pages = "/_/"

  /// - Parameter path: percent-decoded.
  init(_ path: String) {
    guard path.hasPrefix(Self.prefix) else {
      (name, route) = (nil, path)
      return
    }
    let rest = path.dropFirst(Self.prefix.count)
    // Names may contain this prefix, and a route's path has it only once.
    let start =
      rest.ranges(of: "/v1/").last?.lowerBound ?? rest.ranges(of: Self.pages).last?.lowerBound ?? rest.lastIndex(
        of: "/")
      ?? rest.endIndex
    (name, route) = (String(rest[..<start]), String(rest[start...]))
  }
}
