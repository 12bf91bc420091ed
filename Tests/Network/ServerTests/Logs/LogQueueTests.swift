import Foundation
import Logging
import TestSupport
import Testing

@testable import Server

/// The thread that writes a log.
@Suite struct LogQueueTests {
  private let folder: LogFolder

  init() throws { folder = try LogFolder() }

  @Test func `At the end all lines are in the file, in their order, and the thread has ended`() throws {
    weak var ended: LogQueue?
    let all = 2_000
    do {
      let queue = try LogQueue("log", folder.log("log"), limit: 1 << 20, logger: RecordedLog().logger())
      for number in 0..<all / 2 { queue.append(Array("\(number)\n".utf8)) }
      queue.start()
      for number in all / 2..<all { queue.append(Array("\(number)\n".utf8)) }
      #expect(queue.write(Array("\(all)\n".utf8), within: .seconds(20)) == .written)
      queue.keep(Array("\(all + 1)\n".utf8))
      queue.stop(grace: .seconds(20))
      ended = queue
    }
    // The thread has released the queue.
    #expect(ended == nil)
    #expect(try folder.text() == (0...all + 1).map { "\($0)\n" }.joined())
  }

  @Test func `What is more than may wait is dropped, and the log says how much`() throws {
    let queue = try LogQueue("log", folder.log("log"), limit: 10, logger: RecordedLog().logger())
    for line in ["1234\n", "5678\n", "9\n", "\n"] { queue.append(Array(line.utf8)) }
    #expect(queue.dropped == 2)
    // The limit does not apply to lines that must be kept.
    queue.keep(Array("kept\n".utf8))
    queue.start()
    #expect(queue.write(Array("last\n".utf8), within: .seconds(20)) == .written)
    queue.append(Array("again\n".utf8))
    queue.stop(grace: .seconds(20))
    let lines = try folder.text().split(separator: "\n")
    #expect(lines.filter { !$0.hasPrefix("{") } == ["1234", "5678", "kept", "last", "again"])
    #expect(lines.filter { $0.contains(#""lines":2"#) }.count == 1)
    #expect(queue.dropped == 2)
  }

  @Test func `Lines of a log that cannot be written are tried when somebody waits for one, and when it is opened anew`()
    throws
  {
    let log = RecordedLog()
    // A file that can be opened later is then written.
    let link = folder.file("log")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "/dev/full")
    let queue = try LogQueue("log", .file(link), limit: 1 << 20, logger: log.logger())
    queue.start()
    queue.keep(Array("kept\n".utf8))
    #expect(queue.write(Array("waited for\n".utf8), within: .seconds(20)) == .refused)
    try FileManager.default.removeItem(atPath: link)
    queue.reopen()
    #expect(queue.write(Array("written\n".utf8), within: .seconds(20)) == .written)
    queue.stop(grace: .seconds(20))
    #expect(try folder.text() == "kept\nwritten\n")
    #expect(log.lines.filter { $0.contains("cannot be written") }.count == 1)
    #expect(log.lines.filter { $0.contains("can be written again") }.count == 1)
  }
}
