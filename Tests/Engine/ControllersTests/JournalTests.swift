import Foundation
import Ground
import Logging
import Synchronization
import TestSupport
import Testing

@testable import ChangeCapture
@testable import Controllers

/// What one process keeps for the next one.
@Suite struct JournalTests {
  /// A database, and what was warned of.
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
          hasher: PayloadHasher(words: (1, 2, 3, 4)), state: .journal(JournalState(pageSize: 4_096, changeCounter: 1)),
          schemaCookie: 1, tables: []), memory: Number(value: number))
    }
  }

  private struct Number: KeptWithState {
    var value: UInt64
    init(value: UInt64) { self.value = value }
    init(_ reader: inout ByteReader) throws(ByteReader.Malformed) { value = try reader.packed(upTo: 1_000) }
    func add(to writer: inout ByteWriter) { writer.add(value) }
  }

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

  @Test func `One process has a journal at a time, until it releases it`() throws {
    let place = try Place()
    let journal = try place.journal()
    #expect(throws: StateFailure.self) { try place.journal() }
    journal.release()
    let next = try place.journal()
    next.begin()
    next.finish(with: try place.kept(1))
    // What is over does not touch the file of the next one.
    journal.release()
    next.release()
    #expect(try place.journal().found?.isLast == true)
  }

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
    // The name is another file's now, whose inode is new while the former file is there.
    try FileManager.default.moveItem(atPath: place.database, toPath: place.folder.path("b.sqlite"))
    try Data("a".utf8).write(to: URL(fileURLWithPath: place.database))
    #expect(try place.journal().found == nil)
    #expect(place.log.lines.isEmpty)
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

  @Test func `A folder that takes nothing is one warning until it does`() throws {
    let place = try Place()
    let journal = try place.journal()
    journal.begin()
    // A directory has the name of what is to be written.
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
    // Whatever they are, they are read or refused.
    for index in writer.bytes.indices {
      for byte in [0, 1, 0x7F, 0x80, 0xFF] as [UInt8] {
        var bytes = writer.bytes
        bytes[index] = byte
        _ = try? read(bytes)
      }
    }
  }
}
