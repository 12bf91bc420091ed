package import LiveQuery
import Store

/// `extensions`, `collations` and `tokenizers`: see `ForeignParts`.
package struct ForeignPartsSettings: Sendable {
  /// Paths of libraries, each perhaps with `:` and an entry point.
  package var extensions: [String] = []
  /// The collation that stands in for an application's, by the name of the latter.
  package var collations: [String: String] = [:]
  /// The tokenizer that stands in for an application's, by the name of the latter.
  package var tokenizers: [String: String] = [:]

  package init() {}

  package static let names = ["extensions", "collations", "tokenizers"]

  mutating func read(_ name: String, _ value: YAMLPlace) throws(ServerError) {
    switch name {
    case "extensions": extensions = try value.filePaths()
    case "collations":
      for (name, base) in try value.members() {
        guard FieldOrder.Collation(rawValue: try base.text().uppercased()) != nil else {
          throw base.error("must be binary, nocase or rtrim")
        }
        collations[name] = try base.text()
      }
    default:
      for (name, base) in try value.members() { tokenizers[name] = try base.text() }
    }
  }

  /// To be called once, before anything is opened.
  package func apply() throws(FreshetError) {
    for (name, base) in collations.sorted(by: { $0.key < $1.key }) {
      guard let collation = FieldOrder.Collation(rawValue: base.uppercased()) else {
        throw FreshetError(.badQuery, "the collation \(name): \(base) is not binary, nocase or rtrim")
      }
      try ForeignParts.add(collation: name, as: collation)
    }
    for (name, base) in tokenizers.sorted(by: { $0.key < $1.key }) { try ForeignParts.add(tokenizer: name, as: base) }
    for text in extensions {
      let parts = text.split(separator: ":", maxSplits: 1).map(String.init)
      try ForeignParts.add(extension: parts[0], entry: parts.count > 1 ? parts[1] : nil)
    }
  }
}
