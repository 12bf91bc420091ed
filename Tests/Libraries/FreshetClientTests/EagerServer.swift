import Foundation

/// A server for one WebSocket, which sends its first message in one piece with the answer to the handshake, and then closes.
struct EagerServer {
  let url: URL

  init() throws {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isListening = withUnsafeMutableBytes(of: &address) { bytes in
      let address = bytes.baseAddress!.assumingMemoryBound(to: sockaddr.self)
      return bind(listener, address, length) == 0 && listen(listener, 1) == 0
        && getsockname(listener, address, &length) == 0
    }
    guard isListening else { throw POSIXError(.EADDRNOTAVAIL) }
    url = URL(string: "ws://127.0.0.1:\(UInt16(bigEndian: address.sin_port))/")!
    Thread.detachNewThread { Self.serve(listener) }
  }

  private static func serve(_ listener: Int32) {
    let connection = accept(listener, nil, nil)
    defer {
      close(connection)
      close(listener)
    }
    var request = Data()
    var buffer = [UInt8](repeating: 0, count: 4_096)
    while !request.contains("\r\n\r\n") {
      let count = read(connection, &buffer, buffer.count)
      if count <= 0 { return }
      request += buffer[..<count]
    }
    let key = String(decoding: request, as: UTF8.self).split(separator: "\r\n")
      .first { $0.lowercased().hasPrefix("sec-websocket-key:") }?.split(separator: ":")[1]
      .trimmingCharacters(in: .whitespaces)
    guard let key, let accepted = try? digest(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11") else { return }
    let head =
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
      + "Sec-WebSocket-Accept: \(accepted)\r\nSec-WebSocket-Protocol: freshet.v1\r\n\r\n"
    let all = Array(head.utf8) + [0x81, 5] + Array("hello".utf8) + [0x88, 2, 0x03, 0xE8]
    _ = all.withUnsafeBytes { write(connection, $0.baseAddress, $0.count) }
    while read(connection, &buffer, buffer.count) > 0 {}
  }

  private static func digest(_ text: String) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", "printf %s \"$0\" | openssl dgst -sha1 -binary | base64", text]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let printed = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return String(decoding: printed, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
  }
}

extension Data {
  fileprivate func contains(_ text: String) -> Bool { range(of: Data(text.utf8)) != nil }
}
