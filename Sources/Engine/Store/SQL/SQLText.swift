/// `name` as an SQL identifier, in double quotes, with the quotes in it doubled.
///
/// Use this only for names that exist, because SQLite reads an unknown name in double quotes as a string literal.
package func quotedIdentifier(_ name: String) -> String {
  quoted(name, with: "\"")
}

/// `text` as an SQL string literal. `text` must not contain NUL, which SQL text cannot contain.
package func quotedString(_ text: String) -> String {
  quoted(text, with: "'")
}

/// `name` for people to read, in quotes only if it has other characters than letters, digits and underscores.
package func identifierForPeople(_ name: String) -> String {
  let isPlain = name.first?.isNumber == false && name.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
  return isPlain ? name : quotedIdentifier(name)
}

/// `left AND right …`, or with another operator, as a balanced tree, because SQLite limits the depth of expressions to
/// 1,000.
package func balanced(_ terms: [String], by operation: String) -> String {
  guard terms.count > 2 else { return terms.joined(separator: " \(operation) ") }
  let middle = terms.count / 2
  let left = balanced(Array(terms[..<middle]), by: operation)
  let right = balanced(Array(terms[middle...]), by: operation)
  return "(\(left)) \(operation) (\(right))"
}

private func quoted(_ text: String, with quote: Character) -> String {
  var result = String(quote)
  for character in text.unicodeScalars {
    // The loop goes by scalars, because a quote that a combining mark follows is still a quote to SQLite.
    result.unicodeScalars.append(character)
    if Character(character) == quote { result.unicodeScalars.append(character) }
  }
  result.append(quote)
  return result
}

/// Whether SQLite considers both names the same. It folds only the case of A to Z.
package func isSameName(_ left: String, _ right: String) -> Bool {
  let left = left.utf8
  let right = right.utf8
  return left.count == right.count && zip(left, right).allSatisfy { asciiLowercase($0) == asciiLowercase($1) }
}

/// Whether `name` begins with `prefix` as SQLite compares names.
package func hasNamePrefix(_ name: String, _ prefix: String) -> Bool {
  name.utf8.count >= prefix.utf8.count
    && zip(name.utf8, prefix.utf8).allSatisfy { asciiLowercase($0) == asciiLowercase($1) }
}

private func asciiLowercase(_ byte: UInt8) -> UInt8 {
  byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
}
