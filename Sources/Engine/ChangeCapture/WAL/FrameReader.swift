/// Reads frames of a WAL: which pages commits wrote, and their new images.
///
/// Mutable state: `images` and `frames`, which belong to the tick that is being read.
///
/// Owner: the thread that follows the file.
package final class FrameReader {
  /// A page as a commit wrote it.
  struct Frame {
    var page: UInt32
    /// The frame's number in its generation, from 1 up.
    var number: UInt32
    /// Where the page's image is in `images`; -1 if it was not kept.
    var image: Int
  }

  /// The result of reading a run of frames.
  struct Run {
    /// The last frame of the last commit.
    var last: UInt32
    var commits = 0
    /// The checksum of the last commit.
    var checksum: WALChecksum
    /// Whether the run is followed by a frame of an older generation, or by the file's end. If so, nothing after the
    /// run was overwritten or cut off.
    var isEndSeen = false
    /// Whether commit frames are repeated, so that commits cannot be counted.
    var isPadded = false
  }

  /// Which frames to read.
  struct Request {
    /// The number of the frame before the first one to read.
    var from: UInt32
    /// The number of the last frame to read; nil to read as many as exist.
    var to: UInt32?
    var salts: UInt64
    var checksum: WALChecksum
    var isBigEndian: Bool
    /// The salts of the current generation, whose frames do not show where an earlier generation ends.
    var current: UInt64
    var keepsImages = true
    var looksForPadding = false
  }

  static let headerSize = 32
  static let frameHeaderSize = 24
  /// The most bytes of images that are kept. A tick with more reads each page from the file when it needs it.
  private static let keptBytes = 16 << 20
  private static let chunkBytes = 1 << 20

  /// The end of a commit.
  struct Commit {
    /// The commit's last frame.
    var frame: UInt32
    var checksum: WALChecksum
    /// The number of pages of the database after the commit.
    var pageCount: UInt32
  }

  let images = ByteBuffer(capacity: 64 << 10)
  @exclusivity(unchecked) private(set) var frames: [Frame] = []
  /// The commits that wrote `frames`.
  @exclusivity(unchecked) private(set) var commits: [Commit] = []
  private let scratch = ByteBuffer(capacity: 64 << 10)

  func removeAll() {
    images.trim(to: 1 << 20)
    images.removeAll()
    frames.removeAll(keepingCapacity: true)
    commits.removeAll(keepingCapacity: true)
  }

  /// Whether the page numbers of `frames` ascend.
  var pagesAscend: Bool {
    for index in frames.indices.dropFirst() where frames[index].page <= frames[index - 1].page { return false }
    return true
  }

  /// The offset of a frame in the file, in bytes.
  static func offset(of frame: UInt32, pageSize: Int) -> Int {
    headerSize + (Int(frame) - 1) * (pageSize + frameHeaderSize)
  }

  /// Reads the header of the WAL and returns the checksum with which its chain begins.
  ///
  /// - Throws: `walHeader` if the WAL has another generation than the WAL-index.
  func begin(_ wal: some ByteSource, _ index: WALIndexHeader, pageSize: Int) throws(Doubt) -> WALChecksum {
    scratch.resize(to: Self.headerSize)
    guard try wal.read(into: scratch.start, Self.headerSize, at: 0) else { throw Doubt(.walHeader) }
    let start = UnsafeRawPointer(scratch.start)
    let magic = start.bigEndian32(0)
    guard magic & ~1 == 0x377F_0682, Int(start.bigEndian32(8)) == pageSize,
      start.loadUnaligned(fromByteOffset: 16, as: UInt64.self) == index.salts
    else { throw Doubt(.walHeader) }
    var sum = WALChecksum(0, 0)
    sum.add(start, 24, isNative: (magic & 1 == 1) == (1.bigEndian == 1))
    guard sum == WALChecksum(start.bigEndian32(24), start.bigEndian32(28)) else { throw Doubt(.walHeader) }
    return sum
  }

  /// Reads frames and adds those of whole commits to `frames`.
  ///
  /// A frame counts when it has the generation's salts and continues the checksum chain. The caller compares the
  /// checksum of the last commit with what the WAL-index has.
  func read(_ wal: some ByteSource, pageSize: Int, _ request: Request) throws(Doubt) -> Run {
    var state = Reading(request, committed: frames.count)
    let frameSize = pageSize + Self.frameHeaderSize
    let total = request.to.map { Int($0 - request.from) * frameSize }
    let isKept = request.keepsImages && (total ?? .max) <= Self.keptBytes - images.count
    // The loop compares `frame` with the end without adding to it, because a damaged index may have the largest number.
    while state.frame < request.to ?? .max, !state.isOver {
      let buffer = isKept ? images : scratch
      if !isKept { buffer.removeAll() }
      let count = frameCount(request, state, frameSize, isKept: isKept)
      let base = buffer.count
      let start = buffer.grow(by: count * frameSize)
      let offset = Self.offset(of: state.frame + 1, pageSize: pageSize)
      let isWhole = try wal.read(into: start, count * frameSize, at: offset)
      if !isWhole, request.to != nil { break }
      for index in 0..<count where !state.isOver {
        let image = isKept ? base + index * frameSize + Self.frameHeaderSize : -1
        take(start + index * frameSize, pageSize, image, isWhole: isWhole || index + 1 < count, &state)
      }
      if !isWhole { state.isOver = true }
    }
    frames.removeSubrange(state.committed...)
    if request.to == nil, !state.run.isEndSeen {
      state.run.isEndSeen = try endsFile(wal, pageSize, request.salts, state.run.last)
    }
    return state.run
  }

  /// Whether the file ends exactly after a frame that still belongs to its generation. A WAL that was cut would be
  /// shorter, or have frames of a later generation up to its end. (`journal_size_limit` cuts to this very size only by
  /// chance.)
  private func endsFile(
    _ wal: some ByteSource, _ pageSize: Int, _ salts: UInt64, _ last: UInt32
  ) throws(Doubt) -> Bool {
    guard last > 0, last < .max, try wal.size() == Self.offset(of: last + 1, pageSize: pageSize) else { return false }
    scratch.resize(to: Self.frameHeaderSize)
    guard try wal.read(into: scratch.start, Self.frameHeaderSize, at: Self.offset(of: last, pageSize: pageSize)) else {
      return false
    }
    return scratch.start.loadUnaligned(fromByteOffset: 8, as: UInt64.self) == salts
  }

  private struct Reading {
    let request: Request
    var run: Run
    var sum: WALChecksum
    var frame: UInt32
    var isOver = false
    /// The number of `frames` that belong to complete commits.
    var committed: Int
    /// The previous frame, if it ended a commit.
    var lastCommit: (page: UInt32, pages: UInt32, hash: UInt64)?

    init(_ request: Request, committed: Int) {
      self.request = request
      self.committed = committed
      sum = request.checksum
      frame = request.from
      run = Run(last: request.from, checksum: request.checksum)
    }
  }

  private func frameCount(_ request: Request, _ state: Reading, _ frameSize: Int, isKept: Bool) -> Int {
    guard let to = request.to else {
      // Most often there are no frames to read.
      return state.frame == request.from ? 1 : max(1, (64 << 10) / frameSize)
    }
    let left = Int(to - state.frame)
    return isKept ? left : min(left, max(1, Self.chunkBytes / frameSize))
  }

  private func take(
    _ start: UnsafeRawPointer, _ pageSize: Int, _ image: Int, isWhole: Bool, _ state: inout Reading
  ) {
    let request = state.request
    let page = start.bigEndian32(0)
    let salts = start.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
    if page == 0 || salts != request.salts {
      state.isOver = true
      // This is a frame of an older generation. (SQLite 3.40 may write salts of zero, which prove nothing.)
      state.run.isEndSeen = isWhole && page != 0 && salts != 0 && salts != request.current
      return
    }
    let isNative = request.isBigEndian == (1.bigEndian == 1)
    state.sum.add(start, 8, isNative: isNative)
    state.sum.add(start + Self.frameHeaderSize, pageSize, isNative: isNative)
    guard state.sum == WALChecksum(start.bigEndian32(16), start.bigEndian32(20)) else {
      state.isOver = true
      return
    }
    state.frame += 1
    frames.append(Frame(page: page, number: state.frame, image: image))
    let pages = start.bigEndian32(4)
    if request.to == nil || request.looksForPadding { notePadding(start, pageSize, page, pages, &state) }
    if pages == 0 { return }
    state.run.last = state.frame
    state.run.commits += 1
    state.run.checksum = state.sum
    state.committed = frames.count
    commits.append(Commit(frame: state.frame, checksum: state.sum, pageCount: pages))
  }

  /// Detects commit frames that `PRAGMA synchronous=FULL` without powersafe overwrite repeats up to the end of a
  /// sector.
  private func notePadding(
    _ start: UnsafeRawPointer, _ pageSize: Int, _ page: UInt32, _ pages: UInt32, _ state: inout Reading
  ) {
    guard pages != 0 else {
      state.lastCommit = nil
      return
    }
    var hash: UInt64 = 0
    var cursor = start + Self.frameHeaderSize
    let end = cursor + pageSize
    while cursor < end {
      hash = (hash ^ cursor.loadUnaligned(as: UInt64.self)) &* 0x9E37_79B9_7F4A_7C15
      hash ^= hash >> 32
      cursor += 8
    }
    if let last = state.lastCommit, last == (page, pages, hash) { state.run.isPadded = true }
    state.lastCommit = (page, pages, hash)
  }
}
