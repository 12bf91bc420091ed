import Foundation

/// One blocking WebSocket client that looks at what comes.
final class LiveSocket {
  private let descriptor: Int32
  private var buffer = [UInt8](repeating: 0, count: 256 << 10)
  /// Bytes that were read and not taken.
  private var unread = 0..<0

  /// - Parameter greeting: whether the server speaks first.
  init(port: Int, greeting: Bool = true) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var one: Int32 = 1
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let code = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    if code != 0 { throw Failure("nobody listens on port \(port)") }
    try write(
      Array(
        """
        GET /v1/live HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
        Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
        Sec-WebSocket-Protocol: freshet.v1\r\n\r\n
        """.utf8))
    let deadline = now() + 10_000_000_000
    var head: [UInt8] = []
    while head.suffix(4) != [13, 10, 13, 10] { head += try take(1, deadline) }
    if greeting { _ = try receive() }
  }

  deinit { close(descriptor) }

  private func write(_ bytes: [UInt8]) throws {
    if Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) != bytes.count {
      throw Failure("the server hung up")
    }
  }

  private func take(_ count: Int, _ deadline: Int) throws -> [UInt8] {
    var taken: [UInt8] = []
    taken.reserveCapacity(count)
    while taken.count < count {
      if unread.isEmpty {
        guard isReadable(milliseconds: Int32(max(0, (deadline - now()) / 1_000_000))) else {
          throw Failure("no message came in time")
        }
        let got = read(descriptor, &buffer, buffer.count)
        if got <= 0 { throw Failure("the server hung up") }
        unread = 0..<got
      }
      let part = unread.prefix(count - taken.count)
      taken += buffer[part]
      unread = part.upperBound..<unread.upperBound
    }
    return taken
  }

  func send(_ text: String) throws {
    let payload = Array(text.utf8)
    precondition(payload.count < 65_536)
    var frame: [UInt8] = [0x81]
    if payload.count < 126 {
      frame.append(0x80 | UInt8(payload.count))
    } else {
      frame += [0x80 | 126, UInt8(payload.count >> 8), UInt8(payload.count & 255)]
    }
    try write(frame + [0, 0, 0, 0] + payload)
  }

  /// The next text message.
  @discardableResult
  func receive(seconds: Int = 60) throws -> [UInt8] {
    let deadline = now() + seconds * 1_000_000_000
    while true { if let text = try takeFrame(deadline) { return text } }
  }

  /// The next text message, if one has come or comes within some milliseconds.
  func receiveIfAny(milliseconds: Int32) throws -> [UInt8]? {
    while isReadable(milliseconds: milliseconds) {
      if let text = try takeFrame(now() + 60_000_000_000) { return text }
    }
    return nil
  }

  /// - Returns: nil for a frame that is no text; a ping is answered.
  private func takeFrame(_ deadline: Int) throws -> [UInt8]? {
    let head = try take(2, deadline)
    var length = Int(head[1] & 127)
    if length > 125 { length = try take(length == 126 ? 2 : 8, deadline).reduce(0) { $0 << 8 | Int($1) } }
    let payload = try take(length, deadline)
    if head[0] & 15 == 9 { try write([0x8A, 0x80 | UInt8(payload.count), 0, 0, 0, 0] + payload) }
    return head[0] & 15 == 1 ? payload : nil
  }

  /// The next message, which has to be of a type.
  @discardableResult
  func receive(_ type: String, seconds: Int = 60) throws -> [UInt8] {
    let message = try receive(seconds: seconds)
    let head = String(decoding: message.prefix(300), as: UTF8.self)
    if !head.hasPrefix("{\"type\":\"\(type)\"") { throw Failure("not a \(type) but \(head)") }
    return message
  }

  /// Subscribes as `id`, and waits for the first message of the answer.
  func subscribe(_ id: String, _ query: String, window: Range<Int>? = 0..<50) throws {
    try send(Self.subscription(id, query, window: window))
    try receive("snapshot")
  }

  static func subscription(_ id: String, _ query: String, window: Range<Int>? = 0..<50) -> String {
    let window = window.map { ",\"window\":{\"offset\":\($0.lowerBound),\"limit\":\($0.count)}" } ?? ""
    return "{\"type\":\"subscribe\",\"id\":\"\(id)\",\"query\":\(query)\(window)}"
  }

  /// Whether something comes to any of several clients within some milliseconds.
  static func isAnyReadable(_ sockets: [LiveSocket], milliseconds: Int32) -> Bool {
    if sockets.contains(where: { !$0.unread.isEmpty }) { return true }
    var descriptors = sockets.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
    return poll(&descriptors, nfds_t(descriptors.count), milliseconds) > 0
  }

  /// Whether something comes within some milliseconds.
  private func isReadable(milliseconds: Int32) -> Bool {
    if !unread.isEmpty { return true }
    var descriptors = [pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)]
    return poll(&descriptors, 1, milliseconds) > 0
  }

  /// Takes what has come, until nothing comes for a while.
  func drain(milliseconds: Int32) throws {
    while try receiveIfAny(milliseconds: milliseconds) != nil {}
  }
}
