import Foundation

/// A blocking WebSocket client, just enough to subscribe and to read.
final class LiveSocket {
  private let descriptor: Int32
  private var buffer: [UInt8] = []

  init(port: Int) {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let code = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    precondition(code == 0, "nobody listens")
    write(
      Array(
        """
        GET /v1/live HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
        Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
        Sec-WebSocket-Protocol: freshet.v1\r\n\r\n
        """.utf8))
    while buffer.suffix(4) != [13, 10, 13, 10] { buffer.append(read(1)[0]) }
    buffer = []
    _ = receive()
  }

  deinit { close(descriptor) }

  private func write(_ bytes: [UInt8]) {
    let count = Glibc.write(descriptor, bytes, bytes.count)
    precondition(count == bytes.count, "the server hung up")
  }

  private func read(_ count: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var filled = 0
    while filled < count {
      let got = bytes.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress! + filled, count - filled) }
      precondition(got > 0, "the server hung up")
      filled += got
    }
    return bytes
  }

  func send(_ text: String) {
    let payload = Array(text.utf8)
    precondition(payload.count < 65_536)
    var frame: [UInt8] = [0x81]
    if payload.count < 126 {
      frame.append(0x80 | UInt8(payload.count))
    } else {
      frame += [0x80 | 126, UInt8(payload.count >> 8), UInt8(payload.count & 255)]
    }
    write(frame + [0, 0, 0, 0] + payload)
  }

  /// The next text message.
  func receive() -> [UInt8] {
    let head = read(2)
    var length = Int(head[1] & 127)
    if length > 125 { length = read(length == 126 ? 2 : 8).reduce(0) { $0 << 8 | Int($1) } }
    let payload = read(length)
    return head[0] & 15 == 1 ? payload : receive()
  }

  /// Whether something comes within some milliseconds.
  func isReadable(milliseconds: Int32) -> Bool {
    var descriptors = [pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)]
    return poll(&descriptors, 1, milliseconds) > 0
  }
}
