import CSQLite

@testable import ChangeCapture

/// A tree of pages that an attacker wrote, and a commit to it: a doubt at worst, and never without an end.
///
/// An input is a byte of flags, the number of pages, the pages, and those that the commit wrote, each after its number.
enum PagesTarget {
  static func run(_ input: UnsafeRawBufferPointer) -> Bool {
    guard input.count > 2, input.count < 64 << 10 else { return false }
    let flags = input[0]
    let source = MemoryPages(usableSize: flags & 8 == 0 ? MemoryPages.size : MemoryPages.size - 32)
    var bytes = Array(input.dropFirst(2))[...]
    for number in 1...(1 + UInt32(input[1] & 7)) { source.pages[number] = page(&bytes) }
    let layout = RecordLayout(
      isWithoutRowid: flags & 1 != 0, keyFieldCount: flags & 1 != 0 ? 2 : 0, remembered: flags & 4 != 0 ? [0, 3] : [],
      columnBits: [1, 2, 4], computedBits: flags & 16 != 0 ? 8 : 0)
    let packer = RowPacker(hasher: PayloadHasher())
    let summary = TableSummary(root: 2, layout, keepsRows: flags & 2 == 0, packer)
    guard read(summary, source) else { return true }
    source.former = source.pages
    var changed: Set<UInt32> = []
    while let number = bytes.popFirst() {
      let number = 1 + UInt32(number & 15)
      source.pages[number] = page(&bytes)
      changed.insert(number)
    }
    let delta = ChangedRows()
    delta.records = RecordArena()
    let isApplied: Bool
    do throws(Doubt) {
      try summary.apply(changed.sorted(), source, into: delta)
      isApplied = true
    } catch { isApplied = false }
    readRows(of: delta)
    decode(delta, flags)
    let fresh = TableSummary(root: 2, layout, keepsRows: flags & 2 == 0, packer)
    guard read(fresh, source) else { return true }
    if isApplied {
      check(fresh.rowCount == summary.rowCount, "\(summary.rowCount) rows, \(fresh.rowCount) when read anew")
    }
    let difference = ChangedRows()
    difference.records = RecordArena()
    try? summary.compare(root: 2, source, into: difference)
    readRows(of: difference)
    decode(difference, flags)
    if isApplied, flags & 2 == 0 { check(difference.isEmpty, "a commit that was followed left a difference") }
    check(summary.rowCount == fresh.rowCount, "a comparison left another number of rows")
    return true
  }

  private static func page(_ bytes: inout ArraySlice<UInt8>) -> [UInt8] {
    let page = Array(bytes.prefix(MemoryPages.size))
    bytes = bytes.dropFirst(MemoryPages.size)
    return page + [UInt8](repeating: 0, count: MemoryPages.size - page.count)
  }

  private static func read(_ summary: TableSummary, _ source: MemoryPages) -> Bool {
    (try? summary.readOn(source, limit: .max)) != nil && summary.isComplete
  }

  /// Checks that values are within their record.
  private static func decode(_ delta: ChangedRows, _ flags: UInt8) {
    let columns = (0..<4).map { RecordDecoder.Column(isReal: $0 == 1, hasDefault: $0 == 3 && flags & 64 != 0) }
    let decoder = RecordDecoder(
      columns: columns, columnOfField: flags & 1 != 0 ? [2, 0, 1, 3] : [0, 1, 2, 3],
      rowidColumn: flags & 1 != 0 ? nil : 0)
    let values = UnsafeMutablePointer<sqlite_row_value>.allocate(capacity: columns.count)
    defer { values.deallocate() }
    guard let records = delta.records else { return }
    for row in delta.rows where !row.record.isEmpty {
      // A copy of just its size, so that the sanitizers see what is read beyond it.
      let record = Array(records.record(row.record))
      record.withUnsafeBytes { record in
        guard decoder.decode(record, rowid: row.rowid, isUTF16: flags & 32 != 0, into: values) else { return }
        for column in columns.indices where [SQLITE_TEXT, SQLITE_BLOB].contains(values[column].type) {
          let offset = values[column].bytes! - record.baseAddress!
          check(
            offset >= 0 && values[column].length >= 0 && offset + Int(values[column].length) <= record.count,
            "a value beyond its record")
        }
      }
    }
  }

  /// The former images of rows are whole.
  private static func readRows(of delta: ChangedRows) {
    for row in delta.rows {
      for range in [row.key, row.old, row.new] {
        delta.withFields(range) { fields in
          for case .text(let text) in fields { check(text.count <= delta.bytes.count, "a text beyond its row") }
        }
      }
    }
  }
}
