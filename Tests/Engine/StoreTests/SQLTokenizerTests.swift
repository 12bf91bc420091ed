import LiveQuery
import TestSupport
import Testing

@testable import Store

@Suite struct SQLTokenizerTests {
  /// The tokens of a text with short names of their kinds, so that the table of cases is readable.
  private func tokens(_ sql: String) -> [String] {
    let tokenizer = SQLTokenizer(sql)
    return tokenizer.map { "\($0.kind):\(tokenizer.text(of: $0))" }
  }

  @Test(arguments: [
    ("a1_$é", "identifier"), ("_x", "identifier"), ("xyz", "identifier"), ("X", "identifier"), ("日本", "identifier"),
    ("\"a\"\"b\"", "quotedIdentifier"), ("[a]", "quotedIdentifier"), ("[a\"'b]", "quotedIdentifier"),
    ("`a``b`", "quotedIdentifier"), ("\"\"", "quotedIdentifier"), ("'it''s'", "string"), ("''", "string"),
    ("'--'", "string"), ("x'00fF'", "blob"), ("X''", "blob"), ("x'0'", "illegal"), ("x'0g'", "illegal"),
    ("1", "number"), ("1.", "number"), (".5", "number"), ("1.5e-3", "number"), ("1E+10", "number"), ("0xFFa", "number"),
    ("1a", "illegal"), ("1e", "illegal"), ("1e+", "illegal+"), ("1.5x", "illegal"), ("0x", "illegal"),
    ("?", "parameter"), ("?12", "parameter"), (":a1", "parameter"), ("@é", "parameter"), ("$x", "parameter"),
    ("$a::b(c d)", "illegal+"), ("$a::b(cd)", "parameter"), ("$(x)", "illegal+"), (":", "illegal"), ("#1", "illegal+"),
    ("->", "symbol"), ("->>", "symbol"), ("||", "symbol"), ("<>", "symbol"), ("!=", "symbol"), ("<<", "symbol"),
    (">=", "symbol"), ("==", "symbol"), ("<=", "symbol"), (">>", "symbol"), ("!", "illegal"), (";", "symbol"),
    (".", "symbol"), ("-- x", "comment"), ("/* a * / ' */", "comment"), ("/**/", "comment"), ("/*", "unterminated"),
    ("/*/", "unterminated"), ("/* x *", "unterminated"), ("'x", "unterminated"), ("\"x\"\"", "unterminated"),
    ("[x", "unterminated"), ("`x", "unterminated"), ("x'00", "unterminated"), ("^", "illegal"), ("\u{0}", "illegal"),
    ("{", "illegal"), ("\\", "illegal"), ("\u{0B}", "illegal"),
  ])
  func aTokenByItself(sql: String, kind: String) {
    let found = SQLTokenizer(sql).map { $0 }
    #expect(found.first.map { "\($0.kind)" } == (kind.hasSuffix("+") ? String(kind.dropLast()) : kind))
    if !kind.hasSuffix("+") {
      #expect(found.map(\.range) == [0..<sql.utf8.count])
    }
  }

  @Test func neighboursAreCutApart() {
    #expect(
      tokens("a->>'$.b'||c<>1.5-- end\n/*x*/AND:n") == [
        "identifier:a", "symbol:->>", "string:'$.b'", "symbol:||", "identifier:c", "symbol:<>", "number:1.5",
        "comment:-- end", "comment:/*x*/", "identifier:AND", "parameter::n",
      ])
    #expect(tokens("a - -1") == ["identifier:a", "symbol:-", "symbol:-", "number:1"])
    #expect(tokens("t.c.5") == ["identifier:t", "symbol:.", "identifier:c", "number:.5"])
    #expect(tokens("0x1g") == ["number:0x1", "identifier:g"])
    #expect(tokens("1..2") == ["number:1.", "number:.2"])
    #expect(tokens("f(a,?1)") == ["identifier:f", "symbol:(", "identifier:a", "symbol:,", "parameter:?1", "symbol:)"])
    #expect(tokens("x'41'b") == ["blob:x'41'", "identifier:b"])
    #expect(tokens("1e+") == ["illegal:1e", "symbol:+"])
  }

  @Test func whiteSpaceAndByteOrderMarksAreSkipped() {
    #expect(tokens(" \t\r\n\u{0C}\u{FEFF} a \u{0B} b ") == ["identifier:a", "identifier:b"])
    #expect(tokens("") == [])
  }

  @Test func rangesAreInBytes() {
    #expect(SQLTokenizer("é = 'ü'").map(\.range) == [0..<2, 3..<4, 5..<9])
  }

  @Test func everyByteOfAnyTextIsInOneTokenOrIsWhiteSpace() {
    var generator = SeededGenerator(seed: 7)
    let alphabet = Array("ax1'\"[]`-/*.:@$?(|<>=!eE+ \n\u{0B};#é\u{0}".utf8)
    for _ in 0..<20_000 {
      let bytes = (0..<Int.random(in: 0...12, using: &generator)).map { _ in alphabet.randomElement(using: &generator)!
      }
      var end = 0
      for token in SQLTokenizer(bytes) {
        #expect(token.range.lowerBound >= end && !token.range.isEmpty && token.range.upperBound <= bytes.count)
        let skipped = bytes[end..<token.range.lowerBound]
        #expect(skipped.allSatisfy { $0 == 0x20 || $0 == 0x0A || $0 == 0x0B })
        end = token.range.upperBound
      }
    }
  }

  @Test(arguments: ["a", "a b", "a\"b", "\"", "", "[x]", "`", "名前", "select", "1st", "a.b", "'", "e\"\u{301}"])
  func quotedNamesAreOneToken(name: String) {
    let identifier = quotedIdentifier(name)
    #expect(tokens(identifier) == ["quotedIdentifier:\(identifier)"])
    let string = quotedString(name)
    #expect(tokens(string) == ["string:\(string)"])
    for quoted in [identifier, string] {
      let tokenizer = SQLTokenizer(quoted)
      #expect(tokenizer.map { tokenizer.unquotedText(of: $0) } == [name])
    }
  }

  @Test func namesAreComparedAsSQLiteDoes() {
    #expect(isSameName("Well_É", "wELL_É"))
    #expect(!isSameName("É", "é"))
    #expect(!isSameName("[", "{"))
    #expect(hasNamePrefix("SQLite_stat1", "sqlite_"))
    #expect(!hasNamePrefix("sqlite", "sqlite_"))
  }
}
