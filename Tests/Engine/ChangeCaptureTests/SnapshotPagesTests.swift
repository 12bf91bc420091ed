import Testing

@testable import ChangeCapture

/// Where each page of a state is read from. Pages of the database file are filled with 100 plus their number, frames
/// with the given byte.
@Suite struct SnapshotPagesTests {
  private let database = MemoryBytes((1...9).flatMap { [UInt8](repeating: 100 + $0, count: 512) })
  private let reader = FrameReader()
  private let buffer = ByteBuffer()

  private func fill(_ pages: SnapshotPages<MemoryBytes, MemoryBytes>, _ page: UInt32) throws -> UInt8 {
    try pages.page(page, buffer).load(fromByteOffset: 300, as: UInt8.self)
  }

  private func former(_ pages: SnapshotPages<MemoryBytes, MemoryBytes>, _ page: UInt32) -> UInt8? {
    pages.formerPage(page, buffer)?.load(fromByteOffset: 300, as: UInt8.self)
  }

  private func take(
    _ pages: SnapshotPages<MemoryBytes, MemoryBytes>, _ seen: WALIndexHeader, _ wal: HandMadeWAL,
    isBackfilled: Bool = false
  ) throws {
    let step = try WALFollower(pageSize: 512, reader: reader).step(from: seen, to: wal.header, wal.file)
    pages.begin(pageSize: 512, isBackfilled: isBackfilled)
    pages.take(reader, rest: step.rest, isNewGeneration: step.isNewGeneration)
  }

  // Rules of capture: pages-from-wal, pages-last-frame-wins
  @Test func theNewestImageOfAPageIsRead() throws {
    var wal = HandMadeWAL()
    let pages = SnapshotPages(database: database, wal: wal.file)
    wal.commit(2, 3, fill: 1)
    wal.commit(3, fill: 2)
    // All frames of the WAL are read, as after a comparison.
    pages.begin(pageSize: 512, isBackfilled: false)
    try pages.readFrameNumbers(after: 0, upTo: 3)
    #expect(try [2, 3, 4].map { try fill(pages, $0) } == [1, 2, 104])
    pages.end()
    // New frames are read: the last one of a page counts.
    let seen = wal.header
    wal.commit(4, 3, fill: 3)
    wal.commit(3, fill: 4)
    try take(pages, seen, wal)
    #expect(pages.changed == [3, 4])
    #expect(try [2, 3, 4, 5].map { try fill(pages, $0) } == [1, 4, 3, 105])
    #expect([2, 3, 4].map { former(pages, $0) } == [1, 2, 104])
    pages.end()
    // They are found in the next state as well.
    let next = wal.header
    wal.commit(5, fill: 5)
    try take(pages, next, wal)
    #expect(try [2, 3, 4, 5].map { try fill(pages, $0) } == [1, 4, 3, 5])
  }

  // Rules of records: ahead-of-one-tick
  @Test func imagesThatWereReadAheadAreOfOneTickAndOnePageSize() throws {
    var wal = HandMadeWAL()
    let pages = SnapshotPages(database: database, wal: wal.file)
    let seen = wal.header
    wal.commit(2, 3, fill: 1)
    pages.begin(pageSize: 512, isBackfilled: true)
    func readAhead() { pages.readAhead(1...2, isNewGeneration: false) { $0 == 2 } }
    readAhead()
    try take(pages, seen, wal, isBackfilled: true)
    #expect([2, 3].map { former(pages, $0) } == [102, nil])
    pages.end()
    try take(pages, seen, wal, isBackfilled: true)
    #expect(former(pages, 2) == nil)
    pages.end()
    readAhead()
    pages.begin(pageSize: 1_024, isBackfilled: true)
    pages.take(reader, rest: [], isNewGeneration: false)
    #expect(former(pages, 2) == nil)
  }

  // Rules of capture: pages-backfilled
  @Test func aBackfilledWALIsNotRead() throws {
    var wal = HandMadeWAL()
    let pages = SnapshotPages(database: database, wal: wal.file)
    wal.commit(2, fill: 1)
    pages.begin(pageSize: 512, isBackfilled: true)
    try pages.readFrameNumbers(after: 0, upTo: 1)
    #expect(try fill(pages, 2) == 102)
    pages.end()
    // Its frames are not searched in later states either.
    let seen = wal.header
    wal.commit(3, fill: 2)
    try take(pages, seen, wal)
    #expect(try [2, 3].map { try fill(pages, $0) } == [102, 2])
    pages.end()
    let next = wal.header
    wal.commit(4, fill: 3)
    try take(pages, next, wal, isBackfilled: true)
    #expect(former(pages, 4) == nil)
    #expect(try fill(pages, 3) == 103)
    pages.end()
    let last = wal.header
    wal.commit(5, fill: 4)
    try take(pages, last, wal)
    #expect(try [3, 4, 5].map { try fill(pages, $0) } == [103, 104, 4])
  }

  // Rules of capture: pages-new-generation
  @Test func framesOfAnEarlierGenerationAreNotRead() throws {
    var wal = HandMadeWAL()
    let pages = SnapshotPages(database: database, wal: wal.file)
    for page: UInt32 in 2...6 { wal.commit(page, fill: 1) }
    pages.begin(pageSize: 512, isBackfilled: false)
    try pages.readFrameNumbers(after: 0, upTo: 4)
    pages.end()
    var seen = wal.header
    wal.restart()
    wal.commit(3, fill: 2)
    try take(pages, seen, wal)
    #expect(try [2, 3, 4].map { try fill(pages, $0) } == [102, 2, 104])
    // Pages of the rest of that generation are in the database file.
    wal.commit(4, fill: 2)
    seen = wal.header
    wal.commit(7, fill: 2)
    wal.restart()
    wal.commit(8, fill: 3)
    try take(pages, seen, wal)
    #expect(pages.changed == [7, 8])
    #expect(try [7, 8].map { try fill(pages, $0) } == [107, 3])
  }

  // Rules of capture: usable-size
  @Test func bytesThatAreReservedAreNotUsed() throws {
    let pages = SnapshotPages(database: database, wal: MemoryBytes())
    pages.begin(pageSize: 512, isBackfilled: true)
    database.bytes[20] = 40
    database.bytes.replaceSubrange(40..<44, with: [0, 0, 1, 2])
    #expect(try pages.readFirstPage() == 258)
    #expect(pages.usableSize == 472)
  }
}
