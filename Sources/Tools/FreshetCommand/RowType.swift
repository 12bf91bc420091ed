import LiveQuery
import Store

/// The type of a table's or query's rows, for a language with types.
struct RowType {
  /// The kind of a column's values, by its declared type.
  enum Kind {
    case integer, real, number, text, blob, any
    /// A text from this list.
    case oneOf([String])

    init(declared type: String) {
      let upper = type.uppercased()
      switch Affinity(declaredType: type) {
      case .integer: self = .integer
      case .text: self = .text
      case .real: self = .real
      case .blob where !type.isEmpty: self = .blob
      // Other types are read by the usual meaning of their words. A column of an unknown type, or without one, stores
      // any value.
      case .blob, .numeric, nil:
        if upper.hasPrefix("BOOL") {
          self = .integer
        } else if ["DEC", "NUM", "MONEY"].contains(where: upper.hasPrefix) {
          self = .number
        } else {
          self = upper.contains("DATE") || upper.contains("TIME") ? .text : .any
        }
      }
    }
  }

  struct Column {
    var name: String
    var kind: Kind
    var isOptional: Bool

    /// A column of unknown kind has NULL in its type.
    fileprivate var mayBeNull: Bool { if case .any = kind { false } else { isOptional } }

    /// Whether the name is a valid identifier as it is.
    fileprivate var hasPlainName: Bool {
      name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") } && name.first?.isNumber == false
    }
  }

  var name: String
  var source: String
  var columns: [Column]

  init(name: String, source: String, columns: [Column]) {
    self.name = RowType.words(name).map(RowType.capitalized).joined()
    if self.name.first?.isLetter != true { self.name = "Row" + self.name }
    self.source = source
    self.columns = columns
  }

  init(_ table: DatabaseTable) {
    let keys = table.columns.filter { $0.keyPosition > 0 }
    // Other primary keys of rowid tables may contain NULL: SQLite allows it for compatibility.
    let isKeyNotNull = table.isWithoutRowid || (keys.count == 1 && keys[0].type.uppercased() == "INTEGER")
    self.init(
      name: table.name, source: "The \(table.kind == "virtual" ? "table" : table.kind) \(table.name)",
      columns: table.columns.map { column in
        let isNotNull = column.isNotNull || (column.keyPosition > 0 && isKeyNotNull)
        let kind = column.values.isEmpty ? Kind(declared: column.type) : .oneOf(column.values)
        return Column(name: column.name, kind: kind, isOptional: !isNotNull)
      })
  }

  /// Tables may differ only in characters that identifiers cannot have: the later one gets a number. Names that the
  /// generated text itself uses stay: a table `data` is `DataRow`.
  static func withDistinctNames(_ types: [RowType]) -> [RowType] {
    var taken: Set<String> = []
    return types.map { type in
      var type = type
      if referred.contains(type.name) { type.name += "Row" }
      let name = type.name
      var count = 1
      while !taken.insert(type.name).inserted {
        count += 1
        type.name = name + String(count)
      }
      return type
    }
  }

  /// Names of types that the declarations use, or that cannot be declared, in both languages.
  private static let referred: Set<String> = [
    "Any", "AnyValue", "CodingKey", "Literal", "Optional", "TypedDict", "None", "True", "False", "CodingKeys", "Data",
    "Decodable", "Double", "Hashable", "Int", "Protocol", "Self",
    "Sendable", "SQLValue", "String", "Type", "Uint8Array",
  ]

  /// The name for one line of a comment, whatever characters it has.
  fileprivate var comment: String {
    source.map { $0.isNewline || $0.unicodeScalars.contains { $0.value < 0x20 } ? " " : String($0) }.joined()
      .replacing("*/", with: "*\u{200B}/")
  }

  /// The runs of letters and digits in a name.
  fileprivate static func words(_ name: String) -> [String] {
    name.split { !($0.isLetter || $0.isNumber) }.map(String.init)
  }

  fileprivate static func capitalized(_ word: String) -> String { word.prefix(1).uppercased() + word.dropFirst() }
}

// MARK: - TypeScript

extension RowType {
  static func typeScript(_ types: [RowType]) -> String {
    let head = """
      // Made by `freshet types`. Columns have the types that they are declared with. Integers beyond 2^53 come as bigint.

      export type AnyValue = string | number | bigint | Uint8Array | null;
      """
    return ([head] + types.map(\.typeScript)).joined(separator: "\n\n")
  }

  private var typeScript: String {
    let lines = columns.map { column in
      let type =
        switch column.kind {
        case .integer, .real, .number: "number"
        case .text: "string"
        case .oneOf(let texts): texts.map(\.literal).joined(separator: " | ")
        case .blob: "Uint8Array"
        case .any: "AnyValue"
        }
      let name = column.hasPlainName ? column.name : column.name.literal
      return "  \(name): \(type)\(column.mayBeNull ? " | null" : "");"
    }
    return "/** \(comment). */\nexport interface \(name) {\n\(lines.joined(separator: "\n"))\n}"
  }
}

// MARK: - Swift

extension RowType {
  static func swift(_ types: [RowType]) -> String {
    let head = """
      // Made by `freshet types`. Columns have the types that they are declared with.

      import Foundation
      import FreshetResults
      """
    return ([head] + types.map(\.swift)).joined(separator: "\n\n")
  }

  private var swift: String {
    var taken: Set<String> = []
    let properties = columns.map { column in
      var words = RowType.words(column.name)
      if !words.isEmpty { words[0] = words[0].prefix(1).lowercased() + words[0].dropFirst() }
      var name = words.prefix(1).joined() + words.dropFirst().map(RowType.capitalized).joined()
      if name.first?.isLetter != true { name = "column" + RowType.capitalized(name) }
      while !taken.insert(name).inserted { name += "2" }
      return (name: RowType.reserved.contains(name) ? "`\(name)`" : name, column: column)
    }
    var lines = properties.map { name, column in
      let type =
        switch column.kind {
        case .integer: "Int"
        case .real, .number: "Double"
        // A CHECK may get further values later, and decoding them must not fail.
        case .text, .oneOf: "String"
        case .blob: "Data"
        case .any: "SQLValue"
        }
      return "  var \(name): \(type)\(column.mayBeNull ? "?" : "")"
    }
    if properties.contains(where: { $0.name != $0.column.name }) {
      let cases = properties.map { name, column in
        name == column.name ? "    case \(name)" : "    case \(name) = \(column.name.literal)"
      }
      lines += ["", "  enum CodingKeys: String, CodingKey {"] + cases + ["  }"]
    }
    return "/// \(comment).\nstruct \(name): Decodable, Hashable, Sendable {\n\(lines.joined(separator: "\n"))\n}"
  }

  private static let reserved: Set<String> = [
    "associatedtype", "as", "break", "case", "catch", "class", "continue", "default", "defer", "deinit", "do", "else",
    "enum", "extension", "fallthrough", "false", "fileprivate", "for", "func", "guard", "if", "import", "in", "init",
    "inout", "internal", "is", "let", "nil", "operator", "private", "precedencegroup", "protocol", "public", "repeat",
    "rethrows", "return", "self", "static", "struct", "subscript", "super", "switch", "throw", "throws", "true", "try",
    "typealias", "var", "where", "while",
  ]
}

// MARK: - Python

extension RowType {
  static func python(_ types: [RowType]) -> String {
    let head = """
      # Made by `freshet types`. Columns have the types that they are declared with.
      # For subscribe(…, rows=…): a class with the columns, or dict where Python has no names like theirs.
      from dataclasses import dataclass
      from typing import Any, Literal, Optional, TypedDict
      """
    return ([head] + types.map(\.python)).joined(separator: "\n\n\n")
  }

  private var python: String {
    let members = columns.map { column in
      let type =
        switch column.kind {
        case .integer: "int"
        case .real, .number: "float"
        case .text: "str"
        case .oneOf(let texts): "Literal[\(texts.map(\.literal).joined(separator: ", "))]"
        case .blob: "bytes"
        case .any: "Any"
        }
      return (name: column.name, type: column.mayBeNull ? "Optional[\(type)]" : type)
    }
    let isClass = columns.allSatisfy { $0.hasPlainName && !RowType.reservedInPython.contains($0.name) }
    if isClass, !columns.isEmpty {
      let lines = members.map { "    \($0.name): \($0.type)" }.joined(separator: "\n")
      return "@dataclass\nclass \(name):\n    \"\"\"\(comment.pythonText).\"\"\"\n\n\(lines)"
    }
    let lines = members.map { "    \($0.name.literal): \($0.type)," }.joined(separator: "\n")
    return "# \(comment).\n\(name) = TypedDict(\(name.literal), {\n\(lines)\n})"
  }

  private static let reservedInPython: Set<String> = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del",
    "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal",
    "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
  ]
}

extension String {
  /// The name as it stands between three quotes in Python.
  fileprivate var pythonText: String { replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") }

  /// As a string literal, which JavaScript, Swift and Python write alike for characters of names.
  fileprivate var literal: String {
    "\""
      + replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
      .replacing("\r", with: "\\r") + "\""
  }
}
