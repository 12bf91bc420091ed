package import LiveQuery

/// Values as text on a terminal.
package enum CellText {
  /// A value on one line. Control and format characters, which could steer the terminal, are made visible or left out.
  ///
  /// - Parameter limit: the number of characters to read; a text that is cut ends in `…`.
  package static func text(_ value: SQLValue, limit: Int = .max) -> String {
    switch value {
    case .null: "NULL"
    case .integer(let number): String(number)
    case .real(let number): number.description
    case .text(let text): safe(text, limit: limit)
    case .blob(let bytes): "blob(\(bytes.count))"
    }
  }

  /// Whether a value is right-aligned in its column.
  static func isNumber(_ value: SQLValue) -> Bool {
    switch value {
    case .integer, .real: true
    case .null, .text, .blob: false
    }
  }

  private static func safe(_ text: String, limit: Int) -> String {
    var result = ""
    var count = 0
    for character in text {
      if count == limit { return result + "…" }
      count += 1
      for scalar in character.unicodeScalars { append(scalar, to: &result) }
    }
    return result
  }

  private static func append(_ scalar: Unicode.Scalar, to text: inout String) {
    switch scalar {
    case "\n": text += "\\n"
    case "\r": text += "\\r"
    case "\t": text += "\\t"
    // The zero-width joiner joins the parts of an emoji.
    case "\u{200D}": text.unicodeScalars.append(scalar)
    default:
      switch scalar.properties.generalCategory {
      case .control, .lineSeparator, .paragraphSeparator: text += "\u{FFFD}"
      case .format: break
      default: text.unicodeScalars.append(scalar)
      }
    }
  }

  /// How many cells of a terminal a text takes.
  package static func width(_ text: String) -> Int {
    text.reduce(0) { $0 + width($1) }
  }

  private static func width(_ character: Character) -> Int {
    guard let scalar = character.unicodeScalars.first else { return 0 }
    if scalar.properties.generalCategory == .nonspacingMark { return 0 }
    return wide.contains { $0.contains(scalar.value) } || scalar.properties.isEmojiPresentation ? 2 : 1
  }

  /// East Asian characters that take two cells.
  private static let wide: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF,
    0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x20000...0x3FFFD,
  ]

  /// The text in exactly `width` cells: cut with `…`, or filled up with spaces.
  package static func fit(_ text: String, _ width: Int, isRight: Bool = false) -> String {
    var result = ""
    var used = 0
    var rest = text[...]
    while let character = rest.first {
      rest = rest.dropFirst()
      let cells = Self.width(character)
      // The last cell is reserved for …, unless this is the last character.
      if used + cells > (rest.isEmpty ? width : width - 1) {
        if used < width {
          result += "…"
          used += 1
        }
        break
      }
      result.append(character)
      used += cells
    }
    let space = String(repeating: " ", count: max(0, width - used))
    return isRight ? space + result : result + space
  }
}
