/// The pages of the state that a read transaction sees, and of the one before where they still are.
///
/// Where the newest image of a page is: among the frames that were just read; else in the WAL, where the transaction
/// holds frames 1 to `mxFrame` still; else in the database file. When the WAL is wholly backfilled the transaction
/// holds read mark 0: then the database file alone is the state, and frames may be overwritten.
///
/// Guarded by the file's lock. As in `Node`, accesses are not checked for overlaps at run time.
final class SnapshotPages<Database: ByteSource, WAL: ByteSource>: PageSource {
  @exclusivity(unchecked) private(set) var pageSize = 4_096
  @exclusivity(unchecked) private(set) var usableSize = 4_096
  @exclusivity(unchecked) private(set) var database: Database
  @exclusivity(unchecked) private(set) var wal: WAL
  /// Whether the database file alone is the state.
  @exclusivity(unchecked) private(set) var isBackfilled = true
  /// The newest frame of a page, of those that the database file may not have.
  @exclusivity(unchecked) private var newestFrame: [UInt32: UInt32] = [:]
  /// Pages that changed since the state before, ascending, with the last frame of each.
  @exclusivity(unchecked) private(set) var changed: [UInt32] = []
  @exclusivity(unchecked) private var images: [Int] = []
  /// The frame that a page was in before; 0: it was in the database file.
  @exclusivity(unchecked) private var formerFrames: [UInt32] = []
  @exclusivity(unchecked) private var frames: FrameReader?
  /// There is no transaction: pages that are in no frame must not be read.
  @exclusivity(unchecked) var readsFramesAlone = false
  private let ahead = FormerImages()
  private let firstPage = ByteBuffer()
  private let frameHeader = ByteBuffer(capacity: FrameReader.frameHeaderSize)

  init(database: Database, wal: WAL) {
    self.database = database
    self.wal = wal
  }

  /// Reads the same files by others' descriptors.
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

  /// Learns from page 1 how many bytes of a page are used.
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
  ///   - rest: pages that the rest of an earlier generation wrote: their images are in the database file by now.
  ///   - isNewGeneration: whether the frames are the first of their generation.
  func take(_ reader: FrameReader, rest: [UInt32], isNewGeneration: Bool) {
    if isNewGeneration { newestFrame.removeAll(keepingCapacity: true) }
    frames = reader
    // SQLite writes the pages of a commit in ascending order: one commit needs no sorting.
    if rest.isEmpty, reader.pagesAscend { return takeAscending(reader) }
    // Frames are in order, so the last of a page comes last.
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

  /// The state has been read. Backfilled pages stay in the database file, so later checkpoints of this generation start
  /// after them.
  func end() {
    if isBackfilled { newestFrame.removeAll(keepingCapacity: true) }
    frames = nil
    readsFramesAlone = false
    ahead.removeAll()
  }

  /// Reads what the database file has of pages that some frames hold anew, before a checkpoint overwrites it.
  ///
  /// - Parameters:
  ///   - isNewGeneration: whether the frames belong to another generation than the former ones.
  ///   - isWanted: asked for each page.
  func readAhead(_ frames: ClosedRange<UInt32>, isNewGeneration: Bool, _ isWanted: (UInt32) -> Bool) {
    frameHeader.resize(to: FrameReader.frameHeaderSize)
    for frame in frames {
      let offset = FrameReader.offset(of: frame, pageSize: pageSize)
      guard (try? wal.read(into: frameHeader.start, FrameReader.frameHeaderSize, at: offset)) == true else { return }
      let page = UnsafeRawPointer(frameHeader.start).bigEndian32(0)
      // In a frame it stays until the WAL begins anew.
      if !isNewGeneration, newestFrame[page] != nil { continue }
      if isWanted(page) { ahead.read(page, pageSize, from: database) }
    }
  }

  /// Learns from the WAL itself where pages are. Neither salts nor checksums are checked: the transaction holds these
  /// frames still, and SQLite's own readers do not look at them either (3.40.1 commits frames with salts of zero after
  /// `ROLLBACK TO` in a transaction that has spilled).
  ///
  /// - Parameter backfilled: frames that are left out, as SQLite's own readers do: their pages are read from the
  ///   database file.
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

  /// As above, for all frames that `readFrameNumbers` found; the transaction keeps their pages unchanged in both files.
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

  /// Whether the pages that were taken in last are in the database file, as far as the WAL-index says so. They seldom
  /// are: then a checkpoint came between the commit and the tick.
  ///
  /// - Parameters:
  ///   - backfilled: of this state's generation.
  ///   - pageCount: of the database. Pages behind its end are not copied.
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
      // Where a state is compared as a whole, pages with a newer image in the WAL may be in the database file.
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
