/// Splits SQL into tokens by the rules of SQLite's own tokenizer (`tokenize.c` of 3.40).
///
/// It does not know the grammar. Every byte of the text that is not white space belongs to exactly one token, in order.
/// So a text without `unterminated` and `illegal` tokens is split exactly where SQLite splits it. O(length of the
/// text).
package struct SQLTokenizer: Sequence, IteratorProtocol {
  private let bytes: [UInt8]
  /// Where the next token begins, or the white space before it.
  private var position = 0

  package init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  package init(_ text: String) {
    self.init(Array(text.utf8))
  }

  /// The text of a token, with its quotes.
  package func text(of token: SQLToken) -> String {
    String(decoding: bytes[token.range], as: UTF8.self)
  }

  /// The text of an identifier, string or quoted identifier without its quotes. The text of other tokens is unchanged.
  package func unquotedText(of token: SQLToken) -> String {
    guard token.kind == .quotedIdentifier || token.kind == .string else { return text(of: token) }
    // Quotes are compared by bytes, because Swift sees a quote and a following combining mark as one character.
    let quote = bytes[token.range.upperBound - 1]
    var result: [UInt8] = []
    var index = token.range.lowerBound + 1
    while index < token.range.upperBound - 1 {
      result.append(bytes[index])
      index += bytes[index] == quote ? 2 : 1
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// The next token; nil at the end of the text.
  package mutating func next() -> SQLToken? {
    skipSpace()
    guard position < bytes.count else { return nil }
    let (kind, length) = scan()
    let range = position..<(position + length)
    position = range.upperBound
    return SQLToken(kind, range)
  }

  // MARK: - Bytes

  /// The byte at `position` + `offset`; 0 after the end, as in SQLite's NUL-terminated text.
  private func byte(_ offset: Int) -> UInt8 {
    position + offset < bytes.count ? bytes[position + offset] : 0
  }

  private var remaining: Int { bytes.count - position }

  /// Advances over white space and byte order marks.
  private mutating func skipSpace() {
    while position < bytes.count {
      if Self.startsSpace(bytes[position]) {
        // To SQLite, a vertical tab is white space after other white space, and illegal at the start of a token.
        repeat { position += 1 } while position < bytes.count && Self.isSpace(bytes[position])
      } else if bytes[position] == 0xEF && byte(1) == 0xBB && byte(2) == 0xBF {
        position += 3
      } else {
        return
      }
    }
  }

  /// The offset of the first byte from `start` on that is not in the class.
  private func end(from start: Int, while isInClass: (UInt8) -> Bool) -> Int {
    var offset = start
    while offset < remaining && isInClass(byte(offset)) { offset += 1 }
    return offset
  }

  // MARK: - Tokens: each gives the kind and the length of the token at `position`

  private func scan() -> (SQLToken.Kind, Int) {
    switch byte(0) {
    case UInt8(ascii: "'"): quoted(by: byte(0), as: .string)
    case UInt8(ascii: "\""), UInt8(ascii: "`"): quoted(by: byte(0), as: .quotedIdentifier)
    case UInt8(ascii: "["): bracketed()
    case UInt8(ascii: "?"): (.parameter, end(from: 1, while: Self.isDigit))
    case UInt8(ascii: ":"), UInt8(ascii: "@"), UInt8(ascii: "$"): namedParameter()
    case UInt8(ascii: "x"), UInt8(ascii: "X"): byte(1) == UInt8(ascii: "'") ? blob() : identifier()
    case UInt8(ascii: "."): Self.isDigit(byte(1)) ? number() : (.symbol, 1)
    case let first where Self.isDigit(first): number()
    case let first where Self.isIdentifierByte(first): identifier()
    default: comment() ?? symbol()
    }
  }

  private func identifier() -> (SQLToken.Kind, Int) {
    (.identifier, end(from: 1, while: Self.isIdentifierByte))
  }

  private func quoted(by quote: UInt8, as kind: SQLToken.Kind) -> (SQLToken.Kind, Int) {
    var offset = 1
    while offset < remaining && byte(offset) != 0 {
      if byte(offset) != quote {
        offset += 1
      } else if byte(offset + 1) == quote {
        offset += 2
      } else {
        return (kind, offset + 1)
      }
    }
    return (.unterminated, remaining)
  }

  private func bracketed() -> (SQLToken.Kind, Int) {
    let offset = end(from: 1) { $0 != UInt8(ascii: "]") && $0 != 0 }
    return byte(offset) == UInt8(ascii: "]") ? (.quotedIdentifier, offset + 1) : (.unterminated, remaining)
  }

  private func blob() -> (SQLToken.Kind, Int) {
    let digits = end(from: 2, while: Self.isHexDigit)
    let quote = end(from: digits) { $0 != UInt8(ascii: "'") && $0 != 0 }
    guard byte(quote) == UInt8(ascii: "'") else { return (.unterminated, remaining) }
    return (digits == quote && digits % 2 == 0 ? .blob : .illegal, quote + 1)
  }

  private func number() -> (SQLToken.Kind, Int) {
    if byte(0) == UInt8(ascii: "0") && byte(1) | 0x20 == UInt8(ascii: "x") && Self.isHexDigit(byte(2)) {
      // The next byte is not checked, because SQLite reads `0x1g` as a number and a name.
      return (.number, end(from: 3, while: Self.isHexDigit))
    }
    var offset = end(from: 0, while: Self.isDigit)
    if byte(offset) == UInt8(ascii: ".") {
      offset = end(from: offset + 1, while: Self.isDigit)
    }
    if byte(offset) | 0x20 == UInt8(ascii: "e") {
      let isSigned = byte(offset + 1) == UInt8(ascii: "+") || byte(offset + 1) == UInt8(ascii: "-")
      let exponent = offset + (isSigned ? 2 : 1)
      if Self.isDigit(byte(exponent)) { offset = end(from: exponent, while: Self.isDigit) }
    }
    let last = end(from: offset, while: Self.isIdentifierByte)
    return (last == offset ? .number : .illegal, last)
  }

  /// Parameters such as `:name`, with the suffixes `::more` and `(text)` that SQLite allows for Tcl's variables.
  private func namedParameter() -> (SQLToken.Kind, Int) {
    var offset = 1
    var count = 0
    while offset < remaining {
      if Self.isIdentifierByte(byte(offset)) {
        count += 1
        offset += 1
      } else if byte(offset) == UInt8(ascii: "(") && count > 0 {
        let last = end(from: offset + 1) { $0 != UInt8(ascii: ")") && $0 != 0 && !Self.isSpace($0) }
        return byte(last) == UInt8(ascii: ")") ? (.parameter, last + 1) : (.illegal, last)
      } else if byte(offset) == UInt8(ascii: ":") && byte(offset + 1) == UInt8(ascii: ":") {
        offset += 2
      } else {
        break
      }
    }
    return (count > 0 ? .parameter : .illegal, offset)
  }

  private func comment() -> (SQLToken.Kind, Int)? {
    if byte(0) == UInt8(ascii: "-") && byte(1) == UInt8(ascii: "-") {
      return (.comment, end(from: 2) { $0 != UInt8(ascii: "\n") && $0 != 0 })
    }
    guard byte(0) == UInt8(ascii: "/") && byte(1) == UInt8(ascii: "*") else { return nil }
    var offset = 2
    while offset < remaining && byte(offset) != 0 {
      if byte(offset) == UInt8(ascii: "*") && byte(offset + 1) == UInt8(ascii: "/") { return (.comment, offset + 2) }
      offset += 1
    }
    return (.unterminated, remaining)
  }

  private func symbol() -> (SQLToken.Kind, Int) {
    let (first, second) = (byte(0), byte(1))
    for candidate in Self.longSymbols where candidate[0] == first && candidate[1] == second {
      if candidate.count == 2 || candidate[2] == byte(2) { return (.symbol, candidate.count) }
    }
    return (Self.shortSymbols.contains(first) ? .symbol : .illegal, 1)
  }

  // MARK: - Classes of bytes

  /// Symbols of two and more bytes, longer ones first.
  private static let longSymbols: [[UInt8]] = ["->>", "->", "==", "<=", "<>", "<<", ">=", ">>", "!=", "||"]
    .map { Array($0.utf8) }
  private static let shortSymbols: [UInt8] = Array("-+*/%=<>|&~(),;".utf8)

  private static func startsSpace(_ byte: UInt8) -> Bool {
    byte != 0x0B && isSpace(byte)
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || (0x09...0x0D).contains(byte)
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  private static func isHexDigit(_ byte: UInt8) -> Bool {
    isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20)
  }

  private static func isIdentifierByte(_ byte: UInt8) -> Bool {
    isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
      || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "$") || byte >= 0x80
  }
}
