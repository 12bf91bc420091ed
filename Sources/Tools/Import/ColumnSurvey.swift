/// What the values of a column are stored as.
enum ColumnKind: Hashable {
  case integer, real, text
  /// Texts that are stored as `2012-05-18`.
  case date(DateFormat)

  /// The type in the table.
  var type: String {
    switch self {
    case .integer: "INTEGER"
    case .real: "REAL"
    case .text, .date: "TEXT"
    }
  }
}

/// What is known of a column once all its values have been seen.
struct ColumnSurvey {
  /// A value that is not of some kind, the first one.
  struct Exception {
    var line: Int
    var text: String
  }

  let name: String
  private(set) var notInteger: Exception?
  private(set) var notReal: Exception?
  /// The first value with which no way to write dates is that of all; nil also when dates were not looked for.
  private(set) var notDate: Exception?
  /// The first field without a character.
  private(set) var emptyLine: Int?
  private var hasValues = false
  private var isText: Bool
  /// Those that all values so far are of.
  private var dateFormats: [DateFormat]

  /// - Parameter isText: whether it is text whatever it looks like.
  init(_ name: String, isText: Bool, keepsDates: Bool) {
    self.name = name
    self.isText = isText
    dateFormats = isText || keepsDates ? [] : DateFormat.allCases
  }

  /// Takes note of a value.
  mutating func note(_ text: UnsafeRawBufferPointer, line: Int) {
    guard !text.isEmpty else {
      emptyLine = emptyLine ?? line
      return
    }
    hasValues = true
    if notInteger == nil, NumberSyntax.integer(text) == nil { notInteger = Exception(line, text) }
    if notReal == nil, !NumberSyntax.isReal(text) { notReal = Exception(line, text) }
    guard !dateFormats.isEmpty else { return }
    dateFormats.removeAll { $0.iso(text) == nil }
    if dateFormats.isEmpty { notDate = Exception(line, text) }
  }

  var kind: ColumnKind {
    if isText || !hasValues { return .text }
    if notInteger == nil { return .integer }
    if notReal == nil { return .real }
    return dateFormats.count == 1 ? .date(dateFormats[0]) : .text
  }

  /// Its dates may be month first or day first: no day is above 12.
  var isAmbiguousDate: Bool { hasValues && dateFormats.count > 1 }
}

extension ColumnSurvey.Exception {
  /// No more of the value than a message can show.
  fileprivate init(_ line: Int, _ text: UnsafeRawBufferPointer) {
    self.init(line: line, text: String(decoding: text.prefix(40), as: UTF8.self) + (text.count > 40 ? "…" : ""))
  }
}
