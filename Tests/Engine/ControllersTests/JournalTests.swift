import Foundation
import Ground
import Logging
import Synchronization
import TestSupport
import Testing

@testable import ChangeCapture
@testable import Feed
@testable import Following

/// State that one process keeps for the next one.
@Suite struct JournalTests {
  /// A database, and the warnings that were logged.
  private struct Place {
    let folder: TemporaryFolder
    let database: String
    let log = RecordedLog()

    init() throws {
      folder = try TemporaryFolder()
      database = folder.path("a.sqlite")
      try Data("a".utf8).write(to: URL(fileURLWithPath: database))
    }

    func journal() throws -> Journal<Number> {
      try Journal(of: database, part: "0", in: folder.path("states"), logger: log.logger())
    }

    func kept(_ number: UInt64) throws -> Journal<Number>.Kept {
      let inode = try FileManager.default.attributesOfItem(atPath: database)[.systemFileNumber] as? UInt64
      return .init(
        state: CaptureState(
          file: .init(inode: try #require(inode), pageSize: 4_096, textEncoding: 1),
          state: .journal(JournalState(pageSize: 4_096, changeCounter: 1)),
          schemaCookie: 1, tables: []), memory: Number(value: number))
    }
  }

  private struct Number: KeptWithState {
    var value: UInt64
    init(value: UInt64) { self.value = value }
    init(_ reader: inout ByteReader) throws(ByteReader.Malformed) { value = try reader.packed(upTo: 1_000) }
    func add(to writer: inout ByteWriter) { writer.add(value) }
  }

  // Rules of journal: begun, put-back
  @Test func `The last state of a process is the last one until somebody begins`() throws {
    let place = try Place()
    var journal: Journal<Number>? = try place.journal()
    #expect(journal?.found == nil)
    journal?.begin()
    journal?.finish(with: try place.kept(1))
    journal?.release()
    // A process that cannot start leaves it as it was, however it ends.
    for isReleased in [true, false] {
      journal = try place.journal()
      #expect(journal?.found?.isLast == true)
      if isReleased { journal?.release() }
      journal = nil
    }
    journal = try place.journal()
    let found = try #require(journal?.found)
    #expect(found.isLast && found.isOfThisStart && found.kept.memory.value == 1)
    journal?.begin()
    journal = nil
    journal = try place.journal()
    #expect(journal?.found?.isLast == false)
    journal?.forgetFound()
    #expect(journal?.found == nil)
  }

  // Rules of journal: newest
  @Test func `Of states that wait, the newest is written, and what is written later than the last is not the last`()
    throws
  {
    let place = try Place()
    let journal = try place.journal()
    journal.begin()
    let done = Mutex<[UInt64]>([])
    for number in 1...50 as ClosedRange<UInt64> {
      journal.keep(try place.kept(number)) { done.withLock { $0.append(number) } }
    }
    journal.release()
    let written = done.withLock { $0 }
    #expect(written.last == 50)
    #expect(written == written.sorted() && Set(written).count == written.count)
    let found = try #require(try place.journal().found)
    #expect(!found.isLast && found.isOfThisStart && found.kept.memory.value == 50)
  }

  // Rules of journal: released
  @Test func `One process has a journal at a time, and what it has released it does not touch`() throws {
    let place = try Place()
    let first = try place.journal()
    #expect(throws: StateFailure.self) { try place.journal() }
    first.begin()
    first.finish(with: try place.kept(1))
    first.release()
    let unused = try place.journal()
    unused.release()
    let next = try place.journal()
    #expect(next.found?.isLast == true)
    next.begin()
    unused.release()
    next.release()
    #expect(try place.journal().found?.isLast == false)
  }

  #if os(Linux)
    /// A process that another thread is just starting has all open files of this one for a moment.
    @Test func `A journal that was released can be taken, whoever has its descriptor`() throws {
      let place = try Place()
      let first = try place.journal()
      let lock = try #require(
        (0..<4_096 as Range<Int32>).first { number in
          let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")
          return path.map { $0.hasPrefix(place.folder.path("states")) && $0.hasSuffix(".lock") } == true
        })
      let copy = dup(lock)
      first.release()
      #expect(throws: Never.self) { try place.journal() }
      close(copy)
    }
  #endif

  @Test func `What was removed stays away until the last state`() throws {
    let place = try Place()
    var journal = try place.journal()
    journal.begin()
    journal.keep(try place.kept(1))
    journal.remove()
    journal.keep(try place.kept(2))
    journal.release()
    journal = try place.journal()
    #expect(journal.found == nil)
    journal.begin()
    journal.remove()
    journal.finish(with: try place.kept(3))
    journal.release()
    #expect(try place.journal().found?.kept.memory.value == 3)
  }

  // Rules of journal: other-file, whole
  @Test func `Another file's state, and bytes that are not a payload, are not used`() throws {
    let place = try Place()
    let journal = try place.journal()
    journal.begin()
    journal.finish(with: try place.kept(1_001))
    journal.release()
    let next = try place.journal()
    #expect(next.found == nil)
    next.begin()
    next.finish(with: try place.kept(1))
    next.release()
    // The name now belongs to another file. Its inode is new, because the former file still exists.
    try FileManager.default.moveItem(atPath: place.database, toPath: place.folder.path("b.sqlite"))
    try Data("a".utf8).write(to: URL(fileURLWithPath: place.database))
    #expect(try place.journal().found == nil)
    #expect(place.log.lines.isEmpty)
  }

  /// Writes a state and its payload like a process that was killed.
  private func write(_ kept: Journal<Number>.Kept, _ payload: [UInt8], _ place: Place, part: String = "0") throws {
    let file = try StateFile(of: place.database, part: part, in: place.folder.path("states"))
    var state = kept.state
    state.payload = payload
    try file.write(state)
    file.release()
  }

  // Rules of journal: start, nameless-start
  @Test func `A state says whether the machine has been started since, and has nothing behind it`() throws {
    let place = try Place()
    for (start, isOfThisStart) in [(MachineStart.name, true), ("another", false), ("", false)] {
      var writer = ByteWriter()
      writer.add(start)
      writer.add(UInt64(7))
      try write(try place.kept(7), writer.bytes, place)
      #expect(try place.journal().found?.isOfThisStart == isOfThisStart)
      try write(try place.kept(7), writer.bytes + [0], place)
      #expect(try place.journal().found == nil)
    }
  }

  // Rules of journal: feed-start, feed-epoch
  @Test func `A feed goes on after a kill, but not after another start of the machine`() throws {
    let place = try Place()
    func journal() throws -> FeedJournal {
      try FeedJournal(of: place.database, part: "feed", in: place.folder.path("states"), logger: place.log.logger())
    }
    let mark = FeedJournal.Mark(epoch: FeedPositions.newEpoch, number: 3, known: ["t": 1], commit: 9)
    let feed = try journal()
    feed.begin(epoch: mark.epoch, [LoggedCommit(number: 4, commit: 12, commits: 1, changes: [])])
    feed.keep(.init(state: try place.kept(0).state, memory: mark)) {}
    feed.release()
    #expect(feed.hasKept(mark.epoch, ["t"]) && !feed.hasKept(mark.epoch, ["t", "u"]))
    let next = try journal()
    #expect(next.lastCommit == 12)
    let restored = try #require(next.takeRestored())
    #expect(restored.mark.number == 3 && restored.mark.known == ["t": 1] && restored.entries.count == 1)
    next.release()
    var writer = ByteWriter()
    writer.add("another")
    mark.add(to: &writer)
    try write(try place.kept(0), writer.bytes, place, part: "feed")
    #expect(try journal().lastCommit == nil)
    // The log belongs to another epoch, whose first state was never written.
    let other = try journal()
    other.begin(epoch: mark.epoch, [])
    other.keep(.init(state: try place.kept(0).state, memory: mark)) {}
    other.begin(epoch: FeedPositions.newEpoch, [])
    other.release()
    #expect(try journal().lastCommit == nil)
  }

  private func keeper(_ place: Place) throws -> StateKeeper {
    try StateKeeper(
      of: place.database, in: place.folder.path("states"), followers: 2, logger: place.log.logger()
    ) { _, _, _ in true }
  }

  private func part(_ place: Place, _ epoch: String, _ highest: Int64) throws -> StateKeeper.Part {
    .init(state: try place.kept(0).state, memory: KeptMemory(epoch: epoch, highest: highest))
  }

  // Rules of journal: promised, promises
  @Test func `A process that is killed after a promise takes the epoch with it, and one that ends keeps the promise`()
    throws
  {
    let place = try Place()
    /// Ends a keeper in order. `promises` is nil if some are unknown.
    func end(_ keeper: StateKeeper, _ promises: [UInt8]?) throws {
      for follower in 0..<2 { keeper.end(with: try part(place, "a", 5), of: follower) }
      keeper.end(withPromises: promises)
      keeper.finish(highest: 5)
    }
    for promises in [[], [1, 2]] as [[UInt8]] {
      let keeper = try self.keeper(place)
      _ = keeper.restored(0)
      for follower in 0..<2 { keeper.keep(try part(place, "a", 5), of: follower) }
      if !promises.isEmpty { keeper.promise() }
      try end(keeper, promises)
      let next = try self.keeper(place)
      #expect(next.epoch == "a" && next.promises == promises)
    }
    for isKilled in [true, false] {
      let keeper = try self.keeper(place)
      #expect(keeper.epoch == "a")
      _ = keeper.restored(0)
      keeper.promise()
      keeper.keep(try part(place, "a", 6), of: 0)
      // Some promises are unknown.
      if isKilled { keeper.finish(highest: 6) } else { try end(keeper, nil) }
      let next = try self.keeper(place)
      #expect(next.epoch == nil && next.first == nil && next.promises.isEmpty)
      _ = next.restored(0)
      try end(next, [])
    }
  }

  // Rules of journal: first-epoch, left-out, highest
  @Test func `Followers go on in the epoch of the first one, or have nothing to go on with`() throws {
    let place = try Place()
    for epoch in ["a", "b"] {
      let before = try keeper(place)
      _ = before.restored(0)
      before.keep(try part(place, epoch, 3), of: 1)
      before.end(with: try part(place, "a", 5), of: 0)
      before.finish(highest: 6)
      let next = try keeper(place)
      #expect(next.epoch == "a")
      // A state was not the last of its process.
      #expect(try #require(next.first) > 1 << 32)
      #expect(next.restored(0)?.memory.highest == 6)
      #expect(next.restored(1)?.memory.highest == (epoch == "a" ? 3 : nil))
      next.end(with: try part(place, "a", 7), of: 0)
      next.end(with: try part(place, "a", 7), of: 1)
      next.finish(highest: 8)
      #expect(try keeper(place).first == 9)
    }
  }

  @Test func `A state of another version is refused with a warning, and replaced`() throws {
    let place = try Place()
    let journal = try place.journal()
    journal.begin()
    journal.finish(with: try place.kept(1))
    journal.release()
    let file = try #require(FileHandle(forUpdatingAtPath: journal.path))
    try file.seek(toOffset: UInt64(CaptureState.Prefix.versionOffset))
    file.write(Data([1, 0, 0, 0]))
    try file.close()
    let next = try place.journal()
    #expect(next.found == nil)
    #expect(place.log.lines.map { $0.contains("of another version") } == [true])
    next.begin()
    next.finish(with: try place.kept(2))
    next.release()
    #expect(try place.journal().found?.kept.memory.value == 2)
  }

  // Rules of journal: warn-once, warn-again
  @Test func `A folder that takes nothing is one warning until it does`() throws {
    let place = try Place()
    let journal = try place.journal()
    journal.begin()
    // A directory has the name of the file to be written.
    let blocked = journal.path + ".tmp"
    for round in 1...2 {
      try FileManager.default.createDirectory(atPath: blocked, withIntermediateDirectories: false)
      for number in 1...3 as ClosedRange<UInt64> { journal.finish(with: try place.kept(number)) }
      #expect(place.log.lines.count == round)
      try FileManager.default.removeItem(atPath: blocked)
      journal.finish(with: try place.kept(4))
    }
    journal.release()
    #expect(try place.journal().found?.kept.memory.value == 4)
  }

  @Test func `What goes with states is read back, and nothing else is believed`() throws {
    var memory = KeptMemory(epoch: "e", highest: 90)
    (memory.tables, memory.lists, memory.promises) = (["t": 1, "u": 90], ["q": 0], [1, 2, 3])
    for commit in [1, 2, 3, 7, 90] as [Int64] { memory.seen.add(commit) }
    try check(memory) { again in
      #expect(again.epoch == "e" && again.highest == 90 && again.promises == [1, 2, 3])
      #expect(again.tables == memory.tables && again.lists == memory.lists)
      #expect(Array(again.seen.newest) == [1...3, 7...7, 90...90])
    }
    // A commit above the highest was never given.
    memory.highest = 89
    #expect(throws: ByteReader.Malformed.self) { try check(memory) { _ in } }
    try check(FeedJournal.Mark(epoch: "e", number: .max, known: ["t": 4], commit: -1)) { again in
      #expect(again.epoch == "e" && again.number == .max && again.known == ["t": 4] && again.commit == -1)
    }
  }

  private func check<Memory: KeptWithState>(_ memory: Memory, _ body: (Memory) -> Void) throws {
    var writer = ByteWriter()
    memory.add(to: &writer)
    func read(_ bytes: [UInt8]) throws -> Memory {
      try bytes.withUnsafeBytes { bytes in
        var reader = ByteReader(bytes)
        let memory = try Memory(&reader)
        try reader.mustEnd()
        return memory
      }
    }
    body(try read(writer.bytes))
    for count in writer.bytes.indices {
      #expect(throws: ByteReader.Malformed.self) { try read(Array(writer.bytes[..<count])) }
    }
    // Any bytes are either read or refused.
    for index in writer.bytes.indices {
      for byte in [0, 1, 0x7F, 0x80, 0xFF] as [UInt8] {
        var bytes = writer.bytes
        bytes[index] = byte
        _ = try? read(bytes)
      }
    }
  }
}
