package import LiveQuery

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

extension Snapshot {
  package func table(_ format: TableFormat) -> [UInt8] {
    switch format {
    case .csv: csv
    case .ndjson: ndjson
    }
  }

  private var ndjson: [UInt8] {
    let layout = RowLayout(columns: columns, shape: .objects)
    var lines: [UInt8] = []
    lines.reserveCapacity(range.count * 96)
    rows.forEachRow(in: range) { reader in
      var writer = JSONWriter(reserving: 96)
      writer.row(&reader, layout)
      lines += writer.bytes
      lines.append(UInt8(ascii: "\n"))
    }
    return lines
  }

  private var csv: [UInt8] {
    var writer = CSVWriter(reserving: (range.count + 1) * 64)
    for column in columns { writer.field(column) }
    writer.endLine()
    rows.forEachRow(in: range) { reader in
      for _ in columns { writer.field(reader.next()) }
      writer.endLine()
    }
    return writer.bytes
  }
}

private struct CSVWriter {
  private(set) var bytes: [UInt8] = []
  private var isFirst = true

  init(reserving length: Int) { bytes.reserveCapacity(length) }

  mutating func endLine() {
    bytes += [UInt8(ascii: "\r"), UInt8(ascii: "\n")]
    isFirst = true
  }

  mutating func field(_ text: String) {
    var text = text
    text.withUTF8 { field(.text(UnsafeRawBufferPointer($0))) }
  }

  mutating func field(_ value: PackedValue) {
    if !isFirst { bytes.append(UInt8(ascii: ",")) }
    isFirst = false
    switch value {
    case .null: break
    case .integer(let value): bytes += String(value).utf8
    // SQLite's own shell writes infinity like this.
    case .real(let value) where value.isInfinite: bytes += (value < 0 ? "-Inf" : "Inf").utf8
    case .real(let value): bytes += value.description.utf8
    case .text(let text): self.text(text)
    case .blob(let content):
      var writer = JSONWriter(reserving: content.count * 4 / 3 + 4)
      Base64.encode(content, into: &writer)
      bytes += writer.bytes
    }
  }

  private mutating func text(_ text: UnsafeRawBufferPointer) {
    let quote = UInt8(ascii: "\"")
    let isPlain =
      !text.isEmpty
      && text.allSatisfy {
        $0 != quote && $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r")
      }
    if isPlain { return bytes.append(contentsOf: text) }
    bytes.append(quote)
    for byte in text {
      if byte == quote { bytes.append(quote) }
      bytes.append(byte)
    }
    bytes.append(quote)
  }
}
