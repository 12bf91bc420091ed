import Dispatch
import Ground
import Testing

@Suite struct MailboxTests {
  @Test(.timeLimit(.minutes(1))) func `Commands are taken once, in the order of each thread that posts them`() {
    let worker = Worker()
    let (mailbox, all) = (Box(worker.wake), 1_000)
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      for number in 0..<all / 4 { mailbox.commands.post((thread, number)) }
    }
    #expect(mailbox.commands.count == all)
    let taken = mailbox.commands.takeAll()
    #expect(taken.count == all)
    for thread in 0..<4 { #expect(taken.filter { $0.thread == thread }.map(\.number) == Array(0..<all / 4)) }
    #expect(mailbox.commands.count == 0)
    #expect(mailbox.commands.takeAll().isEmpty)
  }

  @Test(.timeLimit(.minutes(1))) func `A command wakes the thread that takes it`() {
    let (worker, isDone) = (Worker(), DispatchSemaphore(value: 0))
    let mailbox = Box(worker.wake)
    worker.start {
      while mailbox.commands.takeAll().isEmpty { worker.rest(milliseconds: .max) }
      isDone.signal()
    }
    mailbox.commands.post((0, 0))
    isDone.wait()
    worker.stop()
  }

  private final class Box: Sendable {
    let commands: Mailbox<(thread: Int, number: Int)>
    init(_ wake: WakeSignal) { commands = Mailbox(wake) }
  }
}
