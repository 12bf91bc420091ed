/// The pages of the state that a read transaction sees, and those of the previous state that still exist.
///
/// The newest image of a page is among the frames just read, or else in the WAL, whose frames 1 to `mxFrame` the
/// transaction keeps from being overwritten, or else in the database file. If the WAL is wholly backfilled, the
/// transaction holds read mark 0: the database file alone is the state then, and frames may be overwritten.
///
/// Guarded by the file's lock. As in `Node`, accesses are not checked for overlaps at run time.
final class SnapshotPages<Database: ByteSource, WAL: ByteSource>: PageSource {
  @exclusivity(unchecked) private(set) var pageSize = 4_096
  @exclusivity(unchecked) private(set) var usableSize = 4_096
  @exclusivity(unchecked) private(set) var database: Database
  @exclusivity(unchecked) private(set) var wal: WAL
  /// Whether the database file alone is the state.
  @exclusivity(unchecked) private(set) var isBackfilled = true
  /// The newest frame of each page that the database file may not have in its newest image.
  @exclusivity(unchecked) private var newestFrame: [UInt32: UInt32] = [:]
  /// Pages that changed since the previous state, ascending.
  @exclusivity(unchecked) private(set) var changed: [UInt32] = []
  @exclusivity(unchecked) private var images: [Int] = []
  /// For each changed page, the frame that it was in before; 0 if it was in the database file.
  @exclusivity(unchecked) private var formerFrames: [UInt32] = []
  @exclusivity(unchecked) private var frames: FrameReader?
  /// There is no transaction, so only pages in the frames just read may be read.
  @exclusivity(unchecked) var readsFramesAlone = false
  private let ahead = FormerImages()
  private let firstPage = ByteBuffer()
  private let frameHeader = ByteBuffer(capacity: FrameReader.frameHeaderSize)

  init(database: Database, wal: WAL) {
    self.database = database
    self.wal = wal
  }

  /// Reads the same files through other descriptors from now on.
  func use(database: Database, wal: WAL) {
    self.database = database
    self.wal = wal
  }

  /// Begins a new state, about which nothing is known.
  func begin(pageSize: Int, isBackfilled: Bool) {
    // Images that were read ahead have the former page size.
    if pageSize != self.pageSize { ahead.removeAll() }
    self.pageSize = pageSize
    self.isBackfilled = isBackfilled
    changed.removeAll(keepingCapacity: true)
    images.removeAll(keepingCapacity: true)
    formerFrames.removeAll(keepingCapacity: true)
    frames = nil
  }

  /// Reads from page 1 how many bytes of a page are used.
  ///
  /// - Returns: the number that counts changes of the schema.
  func readFirstPage() throws(Doubt) -> UInt32 {
    let first = try page(1, firstPage)
    usableSize = pageSize - Int(first.byte(20))
    return first.bigEndian32(40)
  }

  /// Takes in the frames between the two states.
  ///
  /// - Parameters:
  ///   - rest: pages that were written at the end of an earlier generation. The database file has their images by now.
  ///   - isNewGeneration: whether the frames are the first of their generation.
  func take(_ reader: FrameReader, rest: [UInt32], isNewGeneration: Bool) {
    if isNewGeneration { newestFrame.removeAll(keepingCapacity: true) }
    frames = reader
    // SQLite writes the pages of a commit in ascending order, so the pages of one commit need no sorting.
    if rest.isEmpty, reader.pagesAscend { return takeAscending(reader) }
    // The frames are in order, so the last frame of a page comes after the page's other frames.
    var entries = reader.frames.map { (page: $0.page, number: $0.number, image: $0.image) }
    entries += rest.map { (page: $0, number: 0, image: -1) }
    if entries.count > 1 { entries.sort { ($0.page, $0.number) < ($1.page, $1.number) } }
    for (index, entry) in entries.enumerated() {
      if index + 1 < entries.count, entries[index + 1].page == entry.page { continue }
      changed.append(entry.page)
      images.append(entry.image)
      formerFrames.append(newestFrame[entry.page] ?? 0)
    }
    for frame in reader.frames { newestFrame[frame.page] = frame.number }
  }

  private func takeAscending(_ reader: FrameReader) {
    for frame in reader.frames {
      changed.append(frame.page)
      images.append(frame.image)
      formerFrames.append(newestFrame.updateValue(frame.number, forKey: frame.page) ?? 0)
    }
  }

  /// Called when the state has been read. Backfilled pages stay in the database file, so their frame numbers are
  /// dropped.
  func end() {
    if isBackfilled { newestFrame.removeAll(keepingCapacity: true) }
    frames = nil
    readsFramesAlone = false
    ahead.removeAll()
  }

  /// Reads the former images of the frames' pages from the database file, before a checkpoint overwrites them.
  ///
  /// - Parameters:
  ///   - isNewGeneration: whether the frames belong to a later generation than those read before.
  ///   - isWanted: whether to read a page.
  func readAhead(_ frames: ClosedRange<UInt32>, isNewGeneration: Bool, _ isWanted: (UInt32) -> Bool) {
    frameHeader.resize(to: FrameReader.frameHeaderSize)
    for frame in frames {
      let offset = FrameReader.offset(of: frame, pageSize: pageSize)
      guard (try? wal.read(into: frameHeader.start, FrameReader.frameHeaderSize, at: offset)) == true else { return }
      let page = UnsafeRawPointer(frameHeader.start).bigEndian32(0)
      // The former image of this page is in a frame, and stays there until the WAL begins anew.
      if !isNewGeneration, newestFrame[page] != nil { continue }
      if isWanted(page) { ahead.read(page, pageSize, from: database) }
    }
  }

  /// Reads from the WAL's frames where pages are. Neither salts nor checksums are checked: the transaction keeps these
  /// frames from being overwritten, and SQLite's own readers do not check them either (3.40.1 commits frames with salts
  /// of zero after `ROLLBACK TO` in a transaction that has spilled).
  ///
  /// - Parameter backfilled: the number of first frames that are left out, as SQLite's own readers do. Their pages are
  ///   read from the database file.
  func readFrameNumbers(after backfilled: UInt32, upTo count: UInt32) throws(Doubt) {
    newestFrame.removeAll(keepingCapacity: true)
    if isBackfilled || backfilled >= count { return }
    frameHeader.resize(to: FrameReader.frameHeaderSize)
    for frame in backfilled + 1...count {
      let offset = FrameReader.offset(of: frame, pageSize: pageSize)
      guard try wal.read(into: frameHeader.start, FrameReader.frameHeaderSize, at: offset) else {
        throw Doubt(.unreadable)
      }
      newestFrame[UnsafeRawPointer(frameHeader.start).bigEndian32(0)] = frame
    }
  }

  /// As `hasCopied`, for all frames that `readFrameNumbers` found. The transaction keeps their pages unchanged in both
  /// files.
  func hasCopiedAll(upTo backfilled: UInt32, pageCount: UInt32) throws(Doubt) -> Bool {
    let (inWAL, inDatabase) = (ByteBuffer(capacity: pageSize), ByteBuffer(capacity: pageSize))
    inWAL.resize(to: pageSize)
    inDatabase.resize(to: pageSize)
    for (page, frame) in newestFrame where frame <= backfilled && page <= pageCount {
      try readFrame(frame, into: inWAL)
      guard (try? readDatabase(page, into: inDatabase)) != nil, hasSamePage(inDatabase, inWAL.start) else {
        return false
      }
    }
    return true
  }

  private func hasSamePage(_ buffer: ByteBuffer, _ image: UnsafeRawPointer) -> Bool {
    UnsafeRawBufferPointer(start: buffer.start, count: pageSize)
      .hasSameBytes(as: UnsafeRawBufferPointer(start: image, count: pageSize))
  }

  /// Whether the database file has those pages of the last `take` that it should have according to the WAL-index. There
  /// are such pages only if a checkpoint came between the commit and the tick, which is rare.
  ///
  /// - Parameters:
  ///   - backfilled: the number of copied frames of this state's generation.
  ///   - pageCount: the number of pages of the database. Pages after its end are not copied.
  func hasCopied(upTo backfilled: UInt32, pageCount: UInt32) -> Bool {
    guard let frames, let first = frames.frames.first, first.number <= backfilled else { return true }
    frameHeader.resize(to: pageSize)
    defer { frameHeader.resize(to: FrameReader.frameHeaderSize) }
    for (index, page) in changed.enumerated() where images[index] >= 0 && page <= pageCount {
      guard let frame = newestFrame[page], frame <= backfilled else { continue }
      guard (try? readDatabase(page, into: frameHeader)) != nil,
        hasSamePage(frameHeader, frames.images.start + images[index])
      else { return false }
    }
    return true
  }

  // MARK: - PageSource

  func page(_ number: UInt32, _ buffer: ByteBuffer) throws(Doubt) -> UnsafeRawPointer {
    if let index = index(ofChanged: number), images[index] >= 0, let frames {
      return UnsafeRawPointer(frames.images.start + images[index])
    }
    if readsFramesAlone { throw Doubt(.unreadable) }
    buffer.resize(to: pageSize)
    if !isBackfilled, let frame = newestFrame[number] {
      try readFrame(frame, into: buffer)
    } else {
      try readDatabase(number, into: buffer)
    }
    return UnsafeRawPointer(buffer.start)
  }

  func formerPage(_ number: UInt32, _ buffer: ByteBuffer) -> UnsafeRawPointer? {
    guard let index = index(ofChanged: number) else {
      // While a whole table is compared, pages that have a newer image in the WAL may have their former image in the
      // database file.
      guard changed.isEmpty, newestFrame[number] != nil, !isBackfilled else { return try? page(number, buffer) }
      return formerPage(number, inFrame: 0, buffer)
    }
    return formerPage(number, inFrame: formerFrames[index], buffer)
  }

  private func formerPage(_ number: UInt32, inFrame frame: UInt32, _ buffer: ByteBuffer) -> UnsafeRawPointer? {
    if frame == 0, let image = ahead[number] { return image }
    if frame == 0, isBackfilled { return nil }
    buffer.resize(to: pageSize)
    do throws(Doubt) {
      if frame > 0 { try readFrame(frame, into: buffer) } else { try readDatabase(number, into: buffer) }
      return UnsafeRawPointer(buffer.start)
    } catch { return nil }
  }

  private func index(ofChanged page: UInt32) -> Int? {
    var low = 0
    var high = changed.count
    while low < high {
      let middle = (low + high) / 2
      if changed[middle] < page { low = middle + 1 } else { high = middle }
    }
    return low < changed.count && changed[low] == page ? low : nil
  }

  private func readFrame(_ frame: UInt32, into buffer: ByteBuffer) throws(Doubt) {
    let offset = FrameReader.offset(of: frame, pageSize: pageSize) + FrameReader.frameHeaderSize
    guard try wal.read(into: buffer.start, pageSize, at: offset) else { throw Doubt(.unreadable) }
  }

  private func readDatabase(_ number: UInt32, into buffer: ByteBuffer) throws(Doubt) {
    guard number > 0, try database.read(into: buffer.start, pageSize, at: (Int(number) - 1) * pageSize) else {
      throw Doubt(.page)
    }
  }
}
