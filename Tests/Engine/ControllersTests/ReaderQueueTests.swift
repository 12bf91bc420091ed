import GRDB
import Ground
import Store
import Synchronization
import TestSupport
import Testing

@testable import Requests

@Suite struct ReaderQueueTests {
  private let queue = ReaderQueue(readers: 4)
  private let file: Int

  init() { file = queue.addFile() }

  private func add(_ requester: Requester, _ ids: Range<UInt64>) {
    for id in ids {
      _ = queue.add(
        ReaderJob(id: id, requester: requester) { _, _ in
        } failed: { _ in
        }, of: file)
    }
  }

  @Test func `Each request has a share of its own, as a session has`() {
    add(.session(1), 10..<20)
    add(.request(1), 20..<21)
    add(.request(2), 21..<22)
    let first = (0..<4).map { queue.next(for: $0)?.job.id }
    #expect(first == [10, 20, 21, 11])
    _ = queue.end(1)
    #expect(queue.next(for: 1)?.job.id == 12, "nobody else waits")
  }

  @Test func `Sessions and requests with the same number are two`() {
    add(.session(1), 10..<13)
    add(.request(1), 20..<21)
    #expect((0..<2).map { queue.next(for: $0)?.job.id } == [10, 20])
  }

  // MARK: - Starving

  @Test func `The brisk reader takes nothing but jobs that starved`() throws {
    add(.session(1), 10..<12)
    #expect(queue.next(for: queue.brisk) == nil)
    var (job, _) = try #require(queue.next(for: 0))
    job.hasStarved = true
    guard case .wakes(queue.brisk) = queue.add(job, of: file) else {
      Issue.record("the brisk reader waits")
      return
    }
    #expect(queue.next(for: queue.brisk)?.job.id == 10)
    #expect(queue.next(for: 1)?.job.id == 11)
  }

  @Test func `A job whose reader gets too little of a processor is interrupted, once`() throws {
    let clock = ManualClock()
    let processor = Mutex(Nanoseconds.zero)
    let queue = ReaderQueue(readers: 1, clock: clock.clock) { processor.withLock { $0 } }
    func isInterrupted(_ interruption: Interruption, after wall: Duration, with share: Nanoseconds) throws -> Bool {
      clock.advance(by: wall)
      processor.withLock { $0 += share }
      let database = try DatabaseQueue()
      return try database.inDatabase { db in
        let deadline = Deadline(of: try #require(db.sqliteConnection), clock: clock.clock)
        let long = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100000) SELECT max(i) FROM n"
        return deadline.limited(to: .milliseconds(60_000), interruption: interruption) {
          (try? Int.fetchOne(db, sql: long)) == nil
        }
      }
    }
    let file = queue.addFile()
    _ = queue.add(
      ReaderJob(id: 1, requester: .server) { _, _ in
      } failed: { _ in
      }, of: file)
    var (job, interruption) = try #require(queue.next(for: 0))
    #expect(try !isInterrupted(interruption, after: .milliseconds(100), with: .zero), "too early to tell")
    #expect(try !isInterrupted(interruption, after: .milliseconds(200), with: .milliseconds(100)), "a third")
    #expect(try isInterrupted(interruption, after: .milliseconds(700), with: .zero), "a tenth")
    #expect(interruption.hasStarved && !interruption.hasGivenWay)
    job.hasStarved = true
    _ = queue.end(0)
    _ = queue.add(job, of: file)
    let again = try #require(queue.next(for: queue.brisk))
    #expect(try !isInterrupted(again.interruption, after: .milliseconds(900), with: .zero))
  }

  @Test func `What is cancelled is not begun, or is told to stop`() {
    add(.request(1), 10..<12)
    let running = queue.next(for: 0)
    queue.cancel(11, of: file)
    queue.cancel(10, of: file)
    #expect(running?.interruption.isStopped == true)
    #expect(queue.counts(of: file) == (0, 1))
  }
}
