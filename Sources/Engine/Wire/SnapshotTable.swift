import LiveQuery

/// The rows of a snapshot for programs that read tables, without sections, version and window.
package enum TableFormat: String, CaseIterable, Sendable {
  /// RFC 4180, with the names of the columns first. NULL is an empty field, an empty text is `""`, and a blob is
  /// base64.
  case csv
  /// A JSON object on one line for each row.
  case ndjson

  package var contentType: String {
    switch self {
    case .csv: "text/csv; charset=utf-8; header=present"
    case .ndjson: "application/x-ndjson"
    }
  }
}

extension ServerMessage {
  /// Writes the rows of a snapshot or of a further part of it; other messages have none.
  package func writeTable(_ format: TableFormat, to writer: inout JSONWriter) {
    switch self {
    case .snapshot(let snapshot):
      if format == .csv { writer.csvHeader(snapshot.columns) }
      writer.table(format, snapshot.rows, snapshot.range, snapshot.columns)
    case .rows(let message): writer.table(format, message.rows, message.range, message.columns)
    default: break
    }
  }

  /// Whether no rows follow those of this message.
  package var hasLastRows: Bool {
    switch self {
    case .snapshot(let snapshot): snapshot.isComplete
    case .rows(let message): message.isComplete
    default: false
    }
  }
}

extension JSONWriter {
  fileprivate mutating func table(
    _ format: TableFormat, _ rows: PackedRows, _ range: Range<Int>, _ columns: [String]
  ) {
    let layout = RowLayout(columns: columns, shape: .objects)
    rows.forEachRow(in: range) { reader in
      switch format {
      case .csv: csvRow(&reader, columns.count)
      case .ndjson:
        row(&reader, layout)
        endLine()
      }
    }
  }

  fileprivate mutating func csvHeader(_ columns: [String]) {
    for (index, column) in columns.enumerated() {
      if index > 0 { append(UInt8(ascii: ",")) }
      var column = column
      column.withUTF8 { csv(UnsafeRawBufferPointer($0)) }
    }
    append("\r\n")
  }

  private mutating func csvRow(_ reader: inout PackedValueReader, _ count: Int) {
    for index in 0..<count {
      if index > 0 { append(UInt8(ascii: ",")) }
      csv(reader.next())
    }
    append("\r\n")
  }

  private mutating func csv(_ value: PackedValue) {
    switch value {
    case .null: break
    case .integer(let value): append(Array(String(value).utf8))
    // SQLite's own shell writes infinity like this.
    case .real(let value) where value.isInfinite: append(value < 0 ? "-Inf" : "Inf")
    case .real(let value): append(Array(value.description.utf8))
    case .text(let text): csv(text)
    case .blob(let content): Base64.encode(content, into: &self)
    }
  }

  private mutating func csv(_ text: UnsafeRawBufferPointer) {
    let quote = UInt8(ascii: "\"")
    let isPlain =
      !text.isEmpty
      && text.allSatisfy {
        $0 != quote && $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r")
      }
    if isPlain { return append(text) }
    append(quote)
    for byte in text {
      if byte == quote { append(quote) }
      append(byte)
    }
    append(quote)
  }
}
