import Foundation

/// A server's `/metrics`.
struct Metrics {
  /// By name; those with labels added up.
  private var values: [String: Double] = [:]

  init(port: Int) throws {
    for line in try Self.get("/metrics", port: port).split(separator: "\n") where !line.hasPrefix("#") {
      guard let end = line.lastIndex(of: " "), let value = Double(line[line.index(after: end)...]) else { continue }
      values[String(line[..<end].prefix { $0 != "{" }), default: 0] += value
    }
  }

  subscript(name: String) -> Double { values[name] ?? 0 }

  /// The whole answer, on a connection of its own.
  private static func get(_ target: String, port: Int) throws -> String {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let code = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    let request = Array("GET \(target) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".utf8)
    guard code == 0, send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) == request.count else {
      throw Failure("nobody listens on port \(port)")
    }
    var answer: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    while poll(&ready, 1, 10_000) > 0 {
      let count = read(descriptor, &buffer, buffer.count)
      if count <= 0 {
        let text = String(decoding: answer, as: UTF8.self)
        guard text.hasPrefix("HTTP/1.1 200 ") else { throw Failure("\(target) answers \(text.prefix(200))") }
        return text
      }
      answer += buffer[..<count]
    }
    throw Failure("\(target) does not answer in 10 s")
  }
}

extension Server {
  func metrics() throws -> Metrics { try Metrics(port: port) }

  /// Until what is remembered of the followed tables grows no more: they are read a piece at a time after a list was
  /// opened.
  func waitUntilTablesAreRead() throws {
    let deadline = now() + 60_000_000_000
    var before = 0.0
    while now() < deadline {
      usleep(200_000)
      let bytes = try metrics()["freshet_capture_bytes"]
      if bytes > 0, bytes == before { return }
      before = bytes
    }
    throw Failure("the tables are not read in 60 s")
  }
}
