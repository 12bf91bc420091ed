import CCrowd
import Foundation

/// Many clients in this process, which send, and count what comes.
final class Crowd {
  private let crowd: OpaquePointer
  private let port: Int
  private(set) var count = 0

  /// - Parameter isWebSocket: false for a baseline that sends frames without being asked.
  init(_ count: Int, port: Int, isWebSocket: Bool = true) throws {
    guard let crowd = crowd_create(Int32(count)) else { throw Failure("no memory for \(count) clients") }
    self.crowd = crowd
    self.port = port
    // Not all at once: a listening socket's queue is short.
    while self.count < count {
      for _ in 0..<min(100, count - self.count) {
        guard crowd_connect(crowd, Int32(port), isWebSocket ? 1 : 0) >= 0 else {
          throw Failure("client \(self.count) of \(count) cannot connect: \(String(cString: strerror(errno)))")
        }
        self.count += 1
      }
      // Greetings.
      if isWebSocket { try receive(upTo: self.count) }
    }
  }

  deinit { crowd_destroy(crowd) }

  func send(_ member: Int, _ text: String) throws {
    guard text.withCString({ crowd_send(crowd, Int32(member), $0, strlen($0)) }) == 0 else {
      throw Failure("client \(member) cannot send: \(String(cString: strerror(errno)))")
    }
  }

  /// Since the beginning.
  var messages: Int { Int(crowd_messages(crowd)) }
  func messages(of member: Int) -> Int { Int(crowd_messages_of(crowd, Int32(member))) }
  var bytes: Int { Int(crowd_bytes(crowd)) }

  /// The beginning of a member's newest message.
  func last(_ member: Int) -> String {
    let bytes = [CChar](unsafeUninitializedCapacity: 256) { buffer, length in
      length = crowd_last(crowd, Int32(member), buffer.baseAddress!)
    }
    return String(decoding: bytes.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// Reads what comes within some milliseconds.
  ///
  /// - Returns: how many messages were completed.
  @discardableResult
  func read(milliseconds: Int32) throws -> Int {
    let completed = crowd_read(crowd, milliseconds)
    if completed < 0 { throw Failure("the server hung up on one of \(count) clients") }
    return Int(completed)
  }

  /// Reads until there have been so many messages since the beginning.
  func receive(upTo wanted: Int, seconds: Int = 60) throws {
    let deadline = now() + seconds * 1_000_000_000
    while messages < wanted {
      try read(milliseconds: 100)
      if now() > deadline { throw Failure("\(count) clients got \(messages) of \(wanted) messages in \(seconds) s") }
    }
  }

  /// Reads until nothing has come for a while.
  func settle(milliseconds: Int32 = 200) throws {
    let deadline = now() + 60_000_000_000
    while true {
      let before = bytes
      try read(milliseconds: milliseconds)
      if bytes == before { return }
      if now() > deadline { throw Failure("messages do not end") }
    }
  }
}
