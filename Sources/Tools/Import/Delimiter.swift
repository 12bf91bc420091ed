/// What stands between the fields of a file.
package enum Delimiter {
  /// The delimiters to try when none is given; the first of equals wins.
  private static let candidates = [",", ";", "\t"].map { UInt8(ascii: $0) }

  /// - Parameter text: one ASCII character, or `tab`.
  /// - Returns: nil when it is no delimiter.
  package static func parse(_ text: String) -> UInt8? {
    if text == "tab" || text == "\\t" { return UInt8(ascii: "\t") }
    let bytes = Array(text.utf8)
    guard bytes.count == 1, bytes[0] < 0x80, bytes[0] >= 0x20 || bytes[0] == 0x09 else { return nil }
    return bytes[0] == UInt8(ascii: "\"") ? nil : bytes[0]
  }

  /// The one that cuts the first line into the most fields.
  package static func guess(_ file: CSVFile, encoding: CSVEncoding) throws(ImportError) -> UInt8 {
    var best = (delimiter: candidates[0], count: 0)
    for delimiter in candidates {
      var record = CSVRecord()
      var reader = try CSVReader(file, delimiter: delimiter, encoding: encoding)
      // Under a wrong one, something may follow a closing quote.
      guard (try? reader.next(&record)) == true else { continue }
      if record.count > best.count { best = (delimiter, record.count) }
    }
    return best.delimiter
  }
}
