/// One token of SQL text.
package struct SQLToken: Sendable, Equatable {
  package enum Kind: Sendable, Equatable {
    /// A bare word, which may be a name, a keyword or a function. Only SQLite's grammar can distinguish these.
    case identifier
    /// `"name"`, `[name]` or `` `name` ``. SQLite reads a `"name"` that does not exist as a string literal.
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
    /// A string, quoted name or `/*` comment that does not end. It contains everything up to the end of the text.
    ///
    /// SQLite accepts a comment without an end. In a fragment it would hide everything that follows the fragment.
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
  /// Whether it can be a table's name. SQLite accepts a string as a name where only a name can be.
  package var mayBeName: Bool { self == .identifier || self == .quotedIdentifier || self == .string }
}
