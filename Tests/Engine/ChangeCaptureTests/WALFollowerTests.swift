import Testing

@testable import ChangeCapture

/// Each rule of following a WAL, tested by itself on files made by hand.
@Suite struct WALFollowerTests {
  private let reader = FrameReader()

  private func step(_ seen: WALIndexHeader, _ wal: HandMadeWAL, pageSize: Int? = nil) throws -> WALFollower.Step {
    try WALFollower(pageSize: pageSize ?? wal.pageSize, reader: reader).step(from: seen, to: wal.header, wal.file)
  }

  private func doubt(_ seen: WALIndexHeader, _ wal: HandMadeWAL, pageSize: Int? = nil) -> Doubt.Reason? {
    do {
      _ = try step(seen, wal, pageSize: pageSize)
      return nil
    } catch { return (error as? Doubt)?.reason }
  }

  private var pages: [UInt32] { reader.frames.map(\.page) }

  // MARK: - In one generation

  @Test(arguments: [false, true], [512, 4_096, 65_536])
  func framesAreFound(isBigEndian: Bool, pageSize: Int) throws {
    var wal = HandMadeWAL(pageSize: pageSize, isBigEndian: isBigEndian)
    let empty = wal.header
    wal.commit(3, 4)
    let seen = wal.header
    wal.commit(5)
    wal.commit(3, 6, fill: 2)
    #expect(try step(seen, wal).commits == 2)
    #expect(pages == [5, 3, 6])
    #expect(reader.frames.allSatisfy { $0.image >= 0 })
    #expect(reader.images.start.load(fromByteOffset: reader.frames[1].image, as: UInt8.self) == 2)
    #expect(try step(empty, wal).commits == 3)
    #expect(pages == [3, 4, 5, 3, 6])
    #expect(try step(wal.header, wal).commits == 0)
  }

  @Test func manyFramesAreFoundWithoutTheirImages() throws {
    var wal = HandMadeWAL(pageSize: 65_536)
    let seen = wal.header
    for page in 1...300 { wal.commit(UInt32(page)) }
    #expect(try step(seen, wal).commits == 300)
    #expect(pages == Array(1...300))
    #expect(reader.frames.allSatisfy { $0.image == -1 })
  }

  // Rules of capture: whole-commits
  @Test func framesBehindTheNewestCommitDoNotCount() throws {
    var wal = HandMadeWAL()
    let seen = wal.header
    wal.commit(3)
    let index = wal.header
    wal.frame(4, 1, commits: true)
    let step = try WALFollower(pageSize: 512, reader: reader).step(from: seen, to: index, wal.file)
    #expect(step.commits == 1)
    #expect(pages == [3])
  }

  // Rules of capture: went-back
  @Test func anIndexThatWentBackIsADoubt() {
    var wal = HandMadeWAL()
    let empty = wal
    wal.commit(3)
    let seen = wal.header
    #expect(doubt(seen, empty) == .wentBack)
    var other = empty
    other.commit(3, fill: 9)
    #expect(doubt(seen, other) == .wentBack)
  }

  // Rules of capture: frame-salts, frame-checksum
  @Test(arguments: [0, 4, 8, 16, 24, 500])
  func aFrameOfOtherBytesIsADoubt(offset: Int) {
    var wal = HandMadeWAL()
    let seen = wal.header
    wal.commit(3, 4)
    wal.commit(5)
    wal.file.bytes[wal.offset(2) + offset + 3] ^= 1
    #expect(doubt(seen, wal) == .brokenChain)
  }

  // Rules of capture: chain-end-in-generation
  @Test func aChainThatEndsInAnotherChecksumIsADoubt() {
    var wal = HandMadeWAL()
    let seen = wal.header
    var other = wal
    wal.commit(3)
    let bytes = wal.file.bytes
    // Both WALs are written to the same file. It has a complete commit, but not the one that the WAL-index means.
    other.commit(4)
    other.file.bytes = bytes
    #expect(doubt(seen, other) == .brokenChain)
  }

  @Test func aStateInTheMiddleOfACommitIsADoubt() {
    var wal = HandMadeWAL()
    let seen = wal.header
    wal.frame(3, 1, commits: false)
    #expect(doubt(seen, wal) == .brokenChain)
  }

  @Test func aFileThatEndsEarlyIsADoubt() {
    var wal = HandMadeWAL()
    let seen = wal.header
    wal.commit(3, 4)
    wal.file.bytes.removeLast(10)
    #expect(doubt(seen, wal) == .brokenChain)
  }

  // Rules of capture: wal-header-salts, wal-header-checksum
  @Test(arguments: [0, 8, 11, 16, 23, 24, 31])
  func aHeaderOfOtherBytesIsADoubt(offset: Int) {
    var wal = HandMadeWAL()
    let seen = wal.header
    wal.commit(3)
    wal.file.bytes[offset] ^= 2
    #expect(doubt(seen, wal) == .walHeader)
  }

  // Rules of capture: same-count-other-checksum
  @Test func aStateOfTheLastFrameNumberIsADoubt() {
    var wal = HandMadeWAL()
    wal.commit(3)
    var bytes = wal.headerBytes()
    bytes.replaceSubrange(16..<20, with: [255, 255, 255, 255])
    let seen = bytes.withUnsafeBytes { WALIndexHeader($0.baseAddress!) }
    wal.restart()
    wal.commit(4)
    #expect(doubt(seen, wal) == .generationEnd)
  }

  // Rules of capture: page-size
  @Test func anotherPageSizeIsADoubt() {
    var wal = HandMadeWAL()
    let seen = wal.header
    wal.commit(3)
    #expect(doubt(seen, wal, pageSize: 1_024) == .format)
  }

  // MARK: - Into the next generation

  /// Makes a WAL: three commits are seen, `rest` commits are not, and `more` come after the restart.
  private func restarted(
    rest: Int, more: Int, changes: UInt32 = 10, by step: UInt32 = 1, olderFrames: Bool = true
  ) -> (seen: WALIndexHeader, wal: HandMadeWAL) {
    var wal = HandMadeWAL(generation: 99, changes: changes)
    if olderFrames {
      for page in 1...12 { wal.commit(UInt32(page)) }
      wal.restart()
    }
    for page in 20..<23 { wal.commit(UInt32(page)) }
    let seen = wal.header
    for page in 0..<rest { wal.commit(UInt32(30 + page)) }
    wal.restart(by: step)
    for page in 0..<more { wal.commit(UInt32(40 + page)) }
    return (seen, wal)
  }

  // Rules of capture: rest-of-generation, end-is-older-frame, end-of-file-size
  @Test(arguments: [0, 1, 3], [0, 1, 2])
  func commitsOfBothGenerationsAreFound(rest: Int, more: Int) throws {
    // The generation ends at a frame of an older one, or at the end of the file.
    for olderFrames in [true, false] { try findCommits(rest, more, olderFrames) }
  }

  private func findCommits(_ rest: Int, _ more: Int, _ olderFrames: Bool) throws {
    let (seen, wal) = restarted(rest: rest, more: more, olderFrames: olderFrames)
    let step = try step(seen, wal)
    #expect(step.commits == rest + more)
    #expect(step.rest == (0..<rest).map { UInt32(30 + $0) })
    #expect(pages == (0..<more).map { UInt32(40 + $0) })
    #expect(step.isNewGeneration)
  }

  // Rules of capture: commits-counted
  @Test func anOverwrittenCommitIsADoubt() {
    // The fourth commit of the earlier generation was overwritten.
    let (seen, wal) = restarted(rest: 1, more: 4)
    #expect(doubt(seen, wal) == .generationLost)
  }

  // Rules of capture: commits-counted
  @Test func aCommitThatIsCountedAndNotFoundIsADoubt() {
    var (seen, wal) = restarted(rest: 1, more: 1)
    wal.lose(1)
    #expect(doubt(seen, wal) == .generationLost)
  }

  // Rules of capture: restarted-once
  @Test func moreThanOneRestartIsADoubt() {
    let (seen, wal) = restarted(rest: 1, more: 1, by: 2)
    #expect(doubt(seen, wal) == .restartedTwice)
  }

  // Rules of capture: end-seen
  @Test func anEndThatCannotBeSeenIsADoubtWhileTheIndexIsYoung() throws {
    for changes in [10, WALFollower.youngIndex + 20] {
      // Nothing is lost, although the frame behind the last one seen belongs to the newest generation.
      var (seen, wal) = restarted(rest: 0, more: 5, changes: changes)
      #expect(doubt(seen, wal) == (changes == 10 ? .generationEnd : nil))
      // The file was truncated.
      (seen, wal) = restarted(rest: 0, more: 1, changes: changes)
      wal.file.bytes.removeSubrange(wal.offset(3)...)
      #expect(doubt(seen, wal) == (changes == 10 ? .generationEnd : nil))
    }
  }

  // Rules of capture: end-of-file-salts
  @Test func aFileThatWasCutWithinTheNewGenerationHasNoEndToSee() {
    // The file ends exactly where the earlier generation did, and its last frame belongs to the new one.
    let (seen, wal) = restarted(rest: 0, more: 3)
    wal.file.bytes.removeSubrange(wal.offset(4)...)
    #expect(doubt(seen, wal) == .generationEnd)
  }

  // Rules of capture: end-zero-salts
  @Test func framesWithoutSaltsDoNotShowTheEnd() {
    let (seen, wal) = restarted(rest: 1, more: 1)
    wal.file.bytes.replaceSubrange(wal.offset(5) + 8..<wal.offset(5) + 16, with: [UInt8](repeating: 0, count: 8))
    #expect(doubt(seen, wal) == .generationEnd)
  }

  @Test func aFrameWithoutAPageDoesNotShowTheEnd() {
    let (seen, wal) = restarted(rest: 1, more: 1)
    wal.file.bytes.replaceSubrange(wal.offset(5)..<wal.offset(5) + 4, with: [UInt8](repeating: 0, count: 4))
    #expect(doubt(seen, wal) == .generationEnd)
  }

  // Rules of capture: whole-commits
  @Test func framesThatWereNotCommittedAreNotOfTheRest() throws {
    var wal = HandMadeWAL()
    for page in 1...6 { wal.commit(UInt32(page)) }
    wal.restart()
    wal.commit(20)
    let seen = wal.header
    wal.commit(30)
    wal.frame(31, 1, commits: false)
    wal.restart()
    wal.commit(40)
    let step = try step(seen, wal)
    #expect(step.commits == 2)
    #expect(step.rest == [30])
  }

  // Rules of capture: padding
  @Test(arguments: [true, false])
  func repeatedCommitFramesAreADoubt(isRest: Bool) {
    var wal = HandMadeWAL()
    for page in 1...12 { wal.commit(UInt32(page)) }
    wal.restart()
    wal.commit(20)
    let seen = wal.header
    if !isRest { wal.restart() }
    wal.commit(30)
    wal.frame(30, 1, commits: true)
    if isRest { wal.restart() }
    #expect(doubt(seen, wal) == .paddedCommits)
  }

  // Rules of capture: padding-same-bytes
  @Test func commitsOfOnePageInOtherBytesAreNoRepetition() throws {
    var wal = HandMadeWAL()
    for page in 1...12 { wal.commit(UInt32(page)) }
    wal.restart()
    wal.commit(20)
    let seen = wal.header
    wal.commit(30, fill: 1)
    wal.commit(30, fill: 2)
    wal.restart()
    #expect(try step(seen, wal).commits == 2)
  }

  // Rules of capture: chain-end-new-generation
  @Test func aBrokenChainInTheNewGenerationIsADoubt() {
    let (seen, wal) = restarted(rest: 0, more: 2)
    wal.file.bytes[wal.offset(1) + 100] ^= 1
    #expect(doubt(seen, wal) == .brokenChain)
  }

  // MARK: - The WAL-index

  private func read(_ first: [UInt8], _ second: [UInt8]) -> WALIndexHeader? {
    (first + second).withUnsafeBytes { WALIndexHeader.read($0.baseAddress!) }
  }

  // Rules of capture: index-both-copies, index-own-checksum
  @Test func bothCopiesOfTheHeaderAgree() {
    var wal = HandMadeWAL(pageSize: 65_536, isBigEndian: true, generation: 7, changes: 3)
    wal.commit(2, 3)
    let bytes = wal.headerBytes()
    let header = read(bytes, bytes)
    #expect(header == wal.header)
    #expect(header?.pageSize == 65_536)
    #expect(header?.isBigEndian == true)
    #expect(header?.frameCount == 2)
    #expect(header?.changes == 4)
    #expect(header?.generation == 7)
    #expect(header?.version == WALIndexHeader.knownVersion)
    for index in 0..<48 {
      var other = bytes
      other[index] ^= 1
      #expect(read(bytes, other) == nil)
      #expect(read(other, bytes) == nil)
      // The header's own checksum covers all of it.
      #expect(read(other, other) == nil)
    }
    let fresh = wal.headerBytes(isInitialized: false)
    #expect(read(fresh, fresh) == nil)
  }
}
