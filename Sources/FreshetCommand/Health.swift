import ArgumentParser
import Foundation

struct Health: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Check whether a server is healthy.",
    discussion: "The exit status is 0 when the answer is 200. For health checks in containers without curl.")

  @Argument(help: "The address to ask.")
  var url = "http://127.0.0.1:8080/healthz"

  func run() throws {
    guard let address = URLComponents(string: url), address.scheme == "http", let host = address.host else {
      throw ValidationError("\(url) is not an http address.")
    }
    let path = address.path.isEmpty ? "/" : address.path
    let request = "GET \(path) HTTP/1.0\r\nHost: \(host)\r\n\r\n"
    let port = address.port ?? 80
    guard let socket = HealthSocket(host: host.trimmingCharacters(in: ["[", "]"]), port: port) else {
      throw CommandFailure("nobody listens at \(host):\(port)")
    }
    let status = socket.exchange(request).prefix { $0 != "\r\n" }
    if status.split(separator: " ").dropFirst().first != "200" {
      throw CommandFailure(status.isEmpty ? "nobody answers at \(url)" : "\(url) answers \(status)")
    }
  }
}

/// A TCP connection that waits three seconds at most.
private final class HealthSocket {
  private let descriptor: Int32

  init?(host: String, port: Int) {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var list: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, String(port), &hints, &list) == 0, let address = list else { return nil }
    defer { freeaddrinfo(list) }
    descriptor = socket(address.pointee.ai_family, address.pointee.ai_socktype, 0)
    var limit = timeval(tv_sec: 3, tv_usec: 0)
    for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
      setsockopt(descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
    }
    if connect(descriptor, address.pointee.ai_addr, address.pointee.ai_addrlen) != 0 { return nil }
  }

  deinit { close(descriptor) }

  /// What comes back first, which holds the status line.
  func exchange(_ request: String) -> String {
    let bytes = Array(request.utf8)
    _ = write(descriptor, bytes, bytes.count)
    var buffer = [UInt8](repeating: 0, count: 1_024)
    let count = read(descriptor, &buffer, buffer.count)
    return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
  }
}
