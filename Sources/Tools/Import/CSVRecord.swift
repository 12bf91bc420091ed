/// One record of a CSV file: its fields, without the quotes around them.
package struct CSVRecord {
  private struct Field {
    /// Where its contents end in `bytes`.
    var end: Int
    var isQuoted: Bool
  }

  /// The line of the file on which it begins, from 1.
  package private(set) var line = 0
  /// The contents of all fields, one after the other; UTF-8 once `decode` has run.
  var bytes: [UInt8] = []
  private var fields: [Field] = []

  package init() {}

  package var count: Int { fields.count }

  /// The line had no character.
  var isBlank: Bool { fields.count == 1 && bytes.isEmpty && !fields[0].isQuoted }

  mutating func begin(line: Int) {
    self.line = line
    bytes.removeAll(keepingCapacity: true)
    fields.removeAll(keepingCapacity: true)
  }

  mutating func endField(isQuoted: Bool) { fields.append(Field(end: bytes.count, isQuoted: isQuoted)) }

  private func range(_ index: Int) -> Range<Int> { (index == 0 ? 0 : fields[index - 1].end)..<fields[index].end }

  func isQuoted(_ index: Int) -> Bool { fields[index].isQuoted }

  /// Lends the contents of a field.
  func withField<Result>(_ index: Int, _ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    try bytes.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[range(index)])) }
  }

  package func text(_ index: Int) -> String { String(decoding: bytes[range(index)], as: UTF8.self) }
}

extension CSVRecord {
  /// What is wrong with its characters, and on which line.
  struct Fault {
    var line: Int
    var message: String
  }

  /// Makes UTF-8 of the contents, or sees to it that they are.
  ///
  /// - Returns: the first fault.
  mutating func decode(_ encoding: CSVEncoding) -> Fault? {
    if bytes.withUnsafeBytes({ $0.allSatisfy { $0 > 0 && $0 < 0x80 } }) { return nil }
    if let zero = bytes.firstIndex(of: 0) {
      return Fault(line: line(of: zero), message: "a NUL character: this is no text file")
    }
    return encoding == .utf8 ? validate() : transcode()
  }

  private func line(of index: Int) -> Int { line + bytes[..<index].count { $0 == UInt8(ascii: "\n") } }

  private func validate() -> Fault? {
    if String(validating: bytes, as: UTF8.self) != nil { return nil }
    // No character of several bytes has one of a line's end.
    let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    let index = lines.firstIndex { String(validating: $0, as: UTF8.self) == nil } ?? 0
    let advice = bytes.allSatisfy(Windows1252.isDefined) ? "; if it is Windows-1252, say --encoding windows-1252" : ""
    return Fault(line: line + index, message: "not UTF-8\(advice)")
  }

  private mutating func transcode() -> Fault? {
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count * 2)
    var position = 0
    for index in fields.indices {
      while position < fields[index].end {
        let byte = bytes[position]
        guard Windows1252.append(byte, to: &result) else {
          return Fault(line: line(of: position), message: "the byte 0x\(String(byte, radix: 16)) is not Windows-1252")
        }
        position += 1
      }
      fields[index].end = result.count
    }
    bytes = result
    return nil
  }
}
