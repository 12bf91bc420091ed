/// One token of SQL text.
package struct SQLToken: Sendable, Equatable {
  package enum Kind: Sendable, Equatable {
    /// A bare word: a name, a keyword or a function. Only SQLite's grammar can tell which.
    case identifier
    /// `"name"`, `[name]` or `` `name` ``. A `"name"` that names nothing is a string literal to SQLite.
    case quotedIdentifier
    /// `'text'`.
    case string
    /// `x'00ff'`.
    case blob
    /// `1`, `1.5`, `.5e-3`, `0xFF`.
    case number
    /// `?`, `?7`, `:name`, `@name`, `$name`, `$name::suffix(text)`.
    case parameter
    /// Punctuation: one to three bytes.
    case symbol
    /// `-- to the end of the line` or `/* … */`.
    case comment
    /// A string, quoted name or `/*` comment that does not end: everything up to the end of the text.
    ///
    /// SQLite accepts a comment that the end of the text cuts off. In a fragment it would swallow whatever follows.
    case unterminated
    /// A token that SQLite refuses: a stray byte, `1abc`, `x'0'`, a NUL.
    case illegal
  }

  package let kind: Kind
  /// The token's place, in bytes of UTF-8 from the start of the text.
  package let range: Range<Int>

  package init(_ kind: Kind, _ range: Range<Int>) {
    self.kind = kind
    self.range = range
  }
}

extension SQLToken.Kind {
  /// Whether it can be a table's name: SQLite takes a text for one where only a name can stand.
  package var mayBeName: Bool { self == .identifier || self == .quotedIdentifier || self == .string }
}
