import Glibc

/// A blocking TCP connection that gives up after some seconds.
package final class RawSocket {
  package struct Failure: Error, CustomStringConvertible {
    package var description: String
    package init(description: String) { self.description = description }
  }

  private(set) var descriptor: Int32
  private var buffer: [UInt8] = []
  private var tls: TLSClient?

  /// Speaks TLS from now on, to a server whose certificate this one has signed.
  package func startTLS(trusting certificate: String, version: TLSVersion? = nil) throws {
    tls = try TLSClient(descriptor, trusting: certificate, version: version)
  }

  /// The serial number of the server's certificate, and the version of TLS in use.
  package var tlsDetails: (serial: Int, version: String, application: String)? { tls?.details }

  /// `receiveBuffer` limits what the kernel takes while nothing is read. `source` is the IPv4 address to come from.
  package init(
    host: String = "127.0.0.1", port: Int, source: String? = nil, receiveBuffer: Int32? = nil, seconds: Int = 60
  ) throws {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var found: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, String(port), &hints, &found) == 0, let address = found else {
      throw Failure(description: "no such host")
    }
    defer { freeaddrinfo(found) }
    descriptor = socket(address.pointee.ai_family, hints.ai_socktype | Int32(SOCK_CLOEXEC.rawValue), 0)
    var timeout = timeval(tv_sec: seconds, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    var one: Int32 = 1
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, 4)
    if var receiveBuffer { setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, 4) }
    if let source {
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = inet_addr(source)
      let size = socklen_t(MemoryLayout<sockaddr_in>.size)
      let descriptor = descriptor
      let isBound = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { Glibc.bind(descriptor, $0, size) == 0 }
      }
      guard isBound else { throw Failure(description: "cannot come from \(source)") }
    }
    guard Glibc.connect(descriptor, address.pointee.ai_addr, address.pointee.ai_addrlen) == 0 else {
      let problem = errno
      close()
      throw Failure(description: "connect: \(String(cString: strerror(problem)))")
    }
  }

  deinit {
    close()
  }

  package func close() {
    tls = nil
    if descriptor >= 0 { Glibc.close(descriptor) }
    descriptor = -1
  }

  /// Ends the connection with a reset instead of an orderly end.
  package func reset() {
    var linger = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
    close()
  }

  package func finishWriting() {
    shutdown(descriptor, Int32(SHUT_WR))
  }

  package func write(_ bytes: [UInt8]) throws {
    var done = 0
    while done < bytes.count {
      let count = bytes[done...].withUnsafeBytes { bytes in
        tls?.write(bytes) ?? send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { throw Failure(description: "send: \(String(cString: strerror(errno)))") }
      done += count
    }
  }

  package func write(_ text: String) throws {
    try write(Array(text.utf8))
  }

  /// Reads more into the buffer; false at the end of the stream or a reset.
  private func fill() throws -> Bool {
    var chunk = [UInt8](repeating: 0, count: 65536)
    var count = 0
    repeat {
      count = chunk.withUnsafeMutableBytes { tls?.read($0) ?? recv(descriptor, $0.baseAddress, $0.count, 0) }
      // A debugger may interrupt the call.
    } while count < 0 && errno == EINTR
    if count < 0 && errno == EAGAIN { throw Failure(description: "nothing came in time") }
    guard count > 0 else { return false }
    buffer += chunk[..<count]
    return true
  }

  package func read(_ count: Int) throws -> [UInt8] {
    while buffer.count < count {
      guard try fill() else { throw Failure(description: "the stream ended") }
    }
    defer { buffer.removeFirst(count) }
    return Array(buffer[..<count])
  }

  /// One line without its end.
  package func readLine() throws -> String {
    while true {
      if let end = buffer.firstIndex(of: 10) {
        let line = buffer[..<end]
        buffer.removeFirst(end + 1)
        return String(decoding: line.last == 13 ? line.dropLast() : line, as: UTF8.self)
      }
      guard try fill() else { throw Failure(description: "the stream ended") }
    }
  }

  /// Reads until the server closes.
  package func readToEnd() throws -> [UInt8] {
    while try fill() {}
    defer { buffer = [] }
    return buffer
  }
}

/// An HTTP answer as it came over the wire.
package struct RawResponse {
  /// "HTTP/1.1".
  package var version = ""
  package var status = 0
  /// Names in lower case.
  package var headers: [String: String] = [:]
  package var body: [UInt8] = []

  package var text: String { String(decoding: body, as: UTF8.self) }
}

extension RawSocket {
  /// The head of the next answer, and its body unless the request was a HEAD.
  package func readResponse(bodyless: Bool = false) throws -> RawResponse {
    var response = RawResponse()
    let status = try readLine().split(separator: " ", maxSplits: 2)
    response.version = status.first.map(String.init) ?? ""
    response.status = status.count > 1 ? Int(status[1]) ?? 0 : 0
    while case let line = try readLine(), !line.isEmpty {
      let colon = line.firstIndex(of: ":") ?? line.endIndex
      let value = line[colon...].dropFirst()
      response.headers[line[..<colon].lowercased()] = String(value.drop { $0 == " " })
    }
    if !bodyless, let length = response.headers["content-length"].flatMap({ Int($0) }) {
      response.body = try read(length)
    }
    return response
  }

  /// Sends a request on this connection and reads its answer. A body is JSON unless a header says otherwise.
  package func request(
    _ method: String, _ target: String, headers: [String] = [], body: String? = nil
  ) throws -> RawResponse {
    var length = body.map { ["Content-Length: \($0.utf8.count)"] } ?? []
    if body != nil, !headers.contains(where: { $0.hasPrefix("Content-Type") }) {
      length.append("Content-Type: application/json")
    }
    let lines = ["\(method) \(target) HTTP/1.1", "Host: localhost"] + length + headers
    try write(lines.joined(separator: "\r\n") + "\r\n\r\n" + (body ?? ""))
    return try readResponse(bodyless: method == "HEAD")
  }
}

extension RawSocket {
  /// The content of the next chunk of an answer in chunked coding; empty at its end.
  package func readChunk() throws -> [UInt8] {
    guard let length = Int(try readLine(), radix: 16) else { throw Failure(description: "a chunk without a length") }
    defer { _ = try? read(2) }
    return try read(length)
  }

  /// So many bytes, in as many chunks as they come in.
  package func readChunks(_ length: Int) throws -> [UInt8] {
    var received: [UInt8] = []
    while received.count < length { received += try readChunk() }
    return received
  }
}
