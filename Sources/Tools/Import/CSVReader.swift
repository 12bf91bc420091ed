/// Reads the records of a CSV file, in as much memory as the longest of them needs.
///
/// RFC 4180, with any ASCII character between the fields, and lines that end in CR LF or LF. A field that begins with a
/// quote ends with one; two stand for one within it, and it may have line ends. A quote in a field that does not begin with
/// one is a character like any other. The last line need not end. A byte order mark is passed over.
package struct CSVReader {
  private let file: CSVFile
  private let delimiter: UInt8
  private let encoding: CSVEncoding
  private var buffer: [UInt8]
  /// The next byte to take, and the end of the bytes read; both in `buffer`.
  private var position = 0
  private var end = 0
  /// Where the end is in the file.
  private var offset = 0
  /// That of the byte to come, from 1.
  private var line = 1

  /// Longer records are taken for a quote that is never closed.
  static let recordLimit = 64 << 20

  private static let quote = UInt8(ascii: "\"")
  private static let carriageReturn = UInt8(ascii: "\r")
  private static let lineFeed = UInt8(ascii: "\n")

  /// - Parameter delimiter: ASCII, and neither a quote nor a line's end.
  /// - Parameter chunk: bytes read at once, at least 4.
  /// - Throws: `unreadable`.
  package init(
    _ file: CSVFile, delimiter: UInt8, encoding: CSVEncoding = .utf8, chunk: Int = 1 << 18
  ) throws(ImportError) {
    self.file = file
    self.delimiter = delimiter
    self.encoding = encoding
    buffer = [UInt8](repeating: 0, count: chunk)
    try fill()
    let start = buffer.prefix(end)
    if start.starts(with: [0xFF, 0xFE]) || start.starts(with: [0xFE, 0xFF]) {
      throw ImportError(.unreadable, "\(file.name) is UTF-16: convert it with iconv -f UTF-16 -t UTF-8")
    }
    if start.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
  }

  /// How many bytes of the file have been read.
  package var progress: Int { offset - end + position }

  /// Reads a record into `record`, whose memory it takes over.
  ///
  /// - Returns: false at the end of the file.
  /// - Throws: `badLine`, `unreadable`.
  package mutating func next(_ record: inout CSVRecord) throws(ImportError) -> Bool {
    record.begin(line: line)
    guard try peek() != nil else { return false }
    while try !field(&record) {}
    if let fault = record.decode(encoding) { throw failure(fault.line, fault.message) }
    return true
  }

  func failure(_ line: Int, _ message: String) -> ImportError { file.failure(line, message) }

  /// - Returns: whether it was the record's last.
  private mutating func field(_ record: inout CSVRecord) throws(ImportError) -> Bool {
    let isQuoted = try peek() == Self.quote
    if isQuoted { try quoted(&record) } else { try plain(&record) }
    record.endField(isQuoted: isQuoted)
    guard let byte = try take() else { return true }
    if byte == Self.lineFeed {
      line += 1
      return true
    }
    return false
  }

  /// Reads up to what ends the field.
  private mutating func plain(_ record: inout CSVRecord) throws(ImportError) {
    let start = record.bytes.count
    while try peek() != nil {
      let stop = index { [delimiter] byte in byte == delimiter || byte == Self.lineFeed }
      try append(to: stop, &record)
      guard stop < end else { continue }
      if buffer[stop] == Self.lineFeed, record.bytes.count > start, record.bytes.last == Self.carriageReturn {
        record.bytes.removeLast()
      }
      return
    }
  }

  /// Reads a field in quotes and up to what ends it.
  private mutating func quoted(_ record: inout CSVRecord) throws(ImportError) {
    let opened = line
    position += 1
    while try peek() != nil {
      let start = position
      let stop = index { $0 == Self.quote }
      try append(to: stop, &record, opened: opened)
      line += buffer[start..<stop].count { $0 == Self.lineFeed }
      guard stop < end else { continue }
      position += 1
      guard try peek() == Self.quote else { return try endQuoted() }
      record.bytes.append(Self.quote)
      position += 1
    }
    throw failure(opened, "a quote that is opened here is never closed")
  }

  private mutating func endQuoted() throws(ImportError) {
    if try peek() == Self.carriageReturn {
      position += 1
      if try peek() == Self.lineFeed { return }
    } else {
      let next = try peek()
      if next == nil || next == delimiter || next == Self.lineFeed { return }
    }
    throw failure(line, "something follows the closing quote of a field; a quote within quotes is written twice")
  }

  private mutating func append(to stop: Int, _ record: inout CSVRecord, opened: Int? = nil) throws(ImportError) {
    record.bytes.append(contentsOf: buffer[position..<stop])
    position = stop
    if record.bytes.count > Self.recordLimit {
      let limit = Self.recordLimit >> 20
      throw failure(opened ?? line, "more than \(limit) MiB in one record: is a quote not closed?")
    }
  }

  /// The place in the buffer of the first byte from `position` on that is as wanted; its end when there is none.
  private func index(where isWanted: (UInt8) -> Bool) -> Int {
    buffer.withUnsafeBufferPointer { bytes in
      var index = position
      while index < end, !isWanted(bytes[index]) { index += 1 }
      return index
    }
  }

  /// The byte to come; nil at the end of the file.
  private mutating func peek() throws(ImportError) -> UInt8? {
    if position == end { try fill() }
    return position < end ? buffer[position] : nil
  }

  private mutating func take() throws(ImportError) -> UInt8? {
    let byte = try peek()
    if byte != nil { position += 1 }
    return byte
  }

  private mutating func fill() throws(ImportError) {
    let (file, offset) = (file, offset)
    let read: Result<Int, ImportError> = buffer.withUnsafeMutableBytes { bytes in
      do throws(ImportError) { return .success(try file.read(at: offset, into: bytes)) } catch {
        return .failure(error)
      }
    }
    position = 0
    end = try read.get()
    self.offset += end
  }
}
