extension String {
  /// The parts of the text between commas outside of parentheses and quotes.
  package var topLevelParts: [String] {
    var parts: [String] = [""]
    var depth = 0
    var quote: Unicode.Scalar?
    // The loop goes by scalars, because a quote that a combining mark follows is still a quote to SQLite.
    for character in unicodeScalars {
      if let open = quote {
        if character == open { quote = nil }
      } else if "'\"`[".unicodeScalars.contains(character) {
        quote = character == "[" ? "]" : character
      } else if character == "(" {
        depth += 1
      } else if character == ")" {
        depth -= 1
      } else if character == ",", depth == 0 {
        parts.append("")
        continue
      }
      parts[parts.count - 1].unicodeScalars.append(character)
    }
    return parts
  }
}
