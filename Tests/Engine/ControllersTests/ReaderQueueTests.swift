import Store
import Testing

@testable import Controllers

@Suite struct ReaderQueueTests {
  private let queue = ReaderQueue(readers: 4)

  private func add(_ requester: Requester, _ ids: Range<UInt64>) {
    for id in ids {
      _ = queue.add(
        ReaderJob(id: id, requester: requester) { _, _ in
        } failed: { _ in
        })
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

  @Test func `What is cancelled is not begun, or is told to stop`() {
    add(.request(1), 10..<12)
    let running = queue.next(for: 0)
    queue.cancel(11)
    queue.cancel(10)
    #expect(running?.interruption.isStopped == true)
    #expect(queue.counts == (0, 1))
  }
}
