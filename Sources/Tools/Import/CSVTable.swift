import Store

/// A CSV file as a table: columns with names, and rows of as many fields.
struct CSVTable {
  let file: CSVFile
  let names: [String]
  private let delimiter: UInt8
  private let encoding: CSVEncoding
  private let hasHeader: Bool

  /// SQLite's limit of 2,000, less what a merge adds.
  static let maximumColumns = 1_990

  /// Reads the header.
  ///
  /// - Throws: `badLine`, `unreadable`; `mismatch` when there are more columns than a table can have.
  init(_ file: CSVFile, _ options: CSVImport.Options) throws(ImportError) {
    self.file = file
    encoding = options.encoding
    hasHeader = options.hasHeader
    delimiter =
      if let delimiter = options.delimiter { delimiter } else { try Delimiter.guess(file, encoding: options.encoding) }
    var reader = try CSVReader(file, delimiter: delimiter, encoding: encoding)
    var record = CSVRecord()
    repeat {
      guard try reader.next(&record) else { throw ImportError(.unreadable, "\(file.name) is empty") }
    } while record.isBlank
    if record.bytes.contains(UInt8(ascii: "\r")) {
      throw file.failure(record.line, "lines that end in CR alone: convert the file with tr '\\r' '\\n'")
    }
    guard record.count <= Self.maximumColumns else {
      throw ImportError(
        .mismatch, "\(file.name) has \(record.count) columns; a table has \(Self.maximumColumns) at most")
    }
    names =
      hasHeader ? ColumnNames.cleaned((0..<record.count).map { record.text($0) }) : ColumnNames.numbered(record.count)
  }

  /// Reads all rows. Lines without a character are none, unless the table has one column.
  ///
  /// - Parameter body: also gets the number of bytes read so far.
  /// - Throws: `badLine`, `unreadable`, and what `body` throws.
  func forEachRow(_ body: (CSVRecord, _ progress: Int) throws -> Void) throws {
    var reader = try CSVReader(file, delimiter: delimiter, encoding: encoding)
    var record = CSVRecord()
    var isHeader = hasHeader
    while try reader.next(&record) {
      if record.isBlank, isHeader || names.count > 1 { continue }
      if isHeader {
        isHeader = false
        continue
      }
      guard record.count == names.count else {
        let expected = names.count == 1 ? "1 field" : "\(names.count) fields"
        throw file.failure(record.line, "expected \(expected), found \(record.count)")
      }
      try body(record, reader.progress)
    }
  }

  /// The column of a name that the user gave.
  ///
  /// - Throws: `mismatch` when there is none.
  func index(of name: String) throws(ImportError) -> Int {
    if let index = names.firstIndex(where: { isSameName($0, name) }) { return index }
    let list = names.map(identifierForPeople).joined(separator: ", ")
    throw ImportError(.mismatch, "\(file.name) has no column \(identifierForPeople(name)); it has \(list)")
  }
}
