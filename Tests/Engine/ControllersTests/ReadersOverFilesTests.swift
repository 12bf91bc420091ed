import Dispatch
import Foundation
import GRDB
import Ground
import LiveQuery
import Logging
import Store
import Synchronization
import TestSupport
import Testing

@testable import Following
@testable import Requests

/// Readers that several files share.
@Suite(.timeLimit(.minutes(1))) struct ReadersOverFilesTests {
  // MARK: - Which job is next

  private let queue = ReaderQueue(readers: 4)

  private func add(_ file: Int, _ requester: Requester, _ ids: Range<UInt64>) {
    for id in ids {
      _ = queue.add(
        ReaderJob(id: id, requester: requester) { _, _ in
        } failed: { _ in
        }, of: file)
    }
  }

  @Test func `A file has half of the readers while another one waits, however many ask for it`() {
    let (first, second) = (queue.addFile(), queue.addFile())
    for session in 0..<10 { add(first, .session(UInt64(session)), UInt64(session * 10)..<UInt64(session * 10 + 2)) }
    add(second, .session(1), 200..<203)
    #expect((0..<4).map { queue.next(for: $0)?.job.id } == [0, 200, 10, 201])
    #expect(queue.counts(of: first) == (18, 2) && queue.counts(of: second) == (1, 2))
    _ = queue.end(0)
    #expect(queue.next(for: 0)?.job.id == 20, "the fewest run for it")
    _ = queue.end(1)
    #expect(queue.next(for: 1)?.job.id == 202)
    _ = queue.end(3)
    #expect(queue.next(for: 3)?.job.id == 30, "no other file waits")
  }

  @Test func `Files take turns`() {
    let files = (0..<3).map { _ in queue.addFile() }
    for (index, file) in files.enumerated() { add(file, .server, UInt64(index * 10)..<UInt64(index * 10 + 3)) }
    let order = (0..<9).map { _ in
      defer { _ = queue.end(0) }
      return queue.next(for: 0)?.job.id
    }
    #expect(order == [0, 10, 20, 1, 11, 21, 2, 12, 22])
  }

  @Test func `Within a file requesters take turns, and the same session of another file is another requester`() {
    let (first, second) = (queue.addFile(), queue.addFile())
    add(first, .session(1), 10..<13)
    add(first, .session(2), 20..<21)
    add(second, .session(1), 30..<31)
    #expect((0..<4).map { queue.next(for: $0)?.job.id } == [10, 30, 20, 11])
  }

  @Test func `What is cancelled is cancelled for its file alone`() {
    let (first, second) = (queue.addFile(), queue.addFile())
    for file in [first, second] { add(file, .session(1), 1..<3) }
    let running = queue.next(for: 0)
    queue.cancel(1, of: second)
    #expect(running?.interruption.isStopped == false)
    queue.cancel(of: .session(1), second)
    #expect(queue.counts(of: first) == (1, 1) && queue.counts(of: second) == (0, 0))
    #expect(queue.next(for: 1)?.job.id == 2)
    #expect(queue.next(for: 2) == nil)
  }

  // MARK: - Threads

  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func pool(_ name: String, _ readers: Readers, isFollowed: Bool = true) throws -> ReaderPool {
    let path = folder.path(name)
    try DatabaseQueue(path: path).write { try $0.execute(sql: "CREATE TABLE t(a); INSERT INTO t VALUES ('\(name)')") }
    var logger = Logger(label: "test")
    logger.logLevel = .critical
    let pool = ReaderPool(FollowedFile(path), sharing: readers, logger: logger)
    if isFollowed { pool.file.users.enter(0) }
    return pool
  }

  /// A job that says which tables it sees, or its error.
  private func ask(_ pool: ReaderPool) -> String {
    let (answer, done) = (Answer(), DispatchSemaphore(value: 0))
    pool.post(
      ReaderJob(id: pool.newID(), requester: .server) { database, _ in
        answer.text.withLock { $0 = database.connection.place.isSame(as: database.connection.place) ? "read" : "?" }
        done.signal()
      } failed: { error in
        answer.text.withLock { $0 = error.code.rawValue }
        done.signal()
      })
    done.wait()
    return answer.text.withLock { $0 }
  }

  private final class Answer: Sendable {
    let text = Mutex("")
  }

  /// A job that runs until it is interrupted.
  private func block(_ pool: ReaderPool, _ isRunning: DispatchSemaphore, _ wasStopped: Answer) {
    pool.post(
      ReaderJob(id: pool.newID(), requester: .server) { _, interruption in
        isRunning.signal()
        while !interruption.isStopped { sched_yield() }
        wasStopped.text.withLock { $0 += "stopped" }
      } failed: { _ in
      })
  }

  @Test func `A reader keeps connections to the files that it read last`() throws {
    let readers = Readers(count: 1)
    let pools = try (0..<Reader.mostConnections + 4).map { try pool("\($0).sqlite", readers) }
    for pool in pools { #expect(ask(pool) == "read") }
    #expect(readers.connectionCount == Reader.mostConnections)
    for pool in pools { #expect(ask(pool) == "read") }
    #expect(readers.connectionCount == Reader.mostConnections)
    for pool in pools { pool.stop() }
    #expect(readers.connectionCount == 0)
    readers.stop()
  }

  @Test func `The end of one file interrupts its jobs, and leaves the other's`() throws {
    let readers = Readers(count: 2)
    let (first, second) = (try pool("a.sqlite", readers), try pool("b.sqlite", readers))
    let (isRunning, stopped, other) = (DispatchSemaphore(value: 0), Answer(), Answer())
    block(first, isRunning, stopped)
    block(second, isRunning, other)
    isRunning.wait()
    isRunning.wait()
    first.stop()
    #expect(stopped.text.withLock { $0 } == "stopped" && other.text.withLock { $0 }.isEmpty)
    #expect(second.counts.running == 1)
    // The file's reader works for other files, and not for its own new requests.
    first.post(
      ReaderJob(id: 1, requester: .server) { _, _ in
        Issue.record("a job of a file that was stopped")
      } failed: { _ in
      })
    #expect(ask(second) == "read")
    #expect(readers.connectionCount >= 1)
    second.stop()
    #expect(other.text.withLock { $0 } == "stopped" && readers.connectionCount == 0)
    readers.stop()
  }

  @Test func `A file that nobody follows is closed`() throws {
    let readers = Readers(count: 1)
    let (followed, unfollowed) = (try pool("a.sqlite", readers), try pool("b.sqlite", readers, isFollowed: false))
    #expect(ask(followed) == "read" && ask(unfollowed) == "read")
    #expect(comesTrue { readers.connectionCount <= 1 })
    #expect(ask(unfollowed) == "read")
    for pool in [followed, unfollowed] { pool.stop() }
    readers.stop()
  }
}
