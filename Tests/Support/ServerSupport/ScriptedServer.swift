import COpenSSL
package import Foundation

/// A server for one WebSocket: it sends bytes together with the answer to the handshake, and reads until the client
/// leaves.
package struct ScriptedServer: Sendable {
  package let url: URL

  /// - Parameters:
  ///   - status: the status of the answer to the handshake; all but 101 refuse it.
  ///   - frames: what follows.
  package init(status: String = "101 Switching Protocols", frames: [UInt8] = []) throws {
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
    Thread.detachNewThread { Self.serve(listener, status, frames) }
  }

  /// An unmasked frame of less than 126 bytes.
  package static func frame(_ opcode: UInt8, _ text: String, isFinal: Bool = true) -> [UInt8] {
    [isFinal ? 0x80 | opcode : opcode, UInt8(text.utf8.count)] + Array(text.utf8)
  }

  /// A close frame.
  package static func closing(_ code: UInt16, _ reason: String = "") -> [UInt8] {
    [0x88, UInt8(2 + reason.utf8.count), UInt8(code >> 8), UInt8(code & 0xFF)] + Array(reason.utf8)
  }

  private static func serve(_ listener: Int32, _ status: String, _ frames: [UInt8]) {
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
    guard let key else { return }
    let accepted = digest(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11")
    let upgrade =
      "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: \(accepted)\r\n"
      + "Sec-WebSocket-Protocol: freshet.v1\r\n"
    let headers = status.hasPrefix("101") ? upgrade : "Content-Length: 0\r\n"
    let all = Array("HTTP/1.1 \(status)\r\n\(headers)\r\n".utf8) + frames
    all.withUnsafeBytes { bytes in
      var sent = 0
      while sent < bytes.count {
        let count = send(connection, bytes.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
        if count <= 0 { return }
        sent += count
      }
    }
    while read(connection, &buffer, buffer.count) > 0 {}
  }

  /// The SHA-1 of a text, in Base64. Computed here, because starting a process may take longer than a client waits on a
  /// busy machine.
  private static func digest(_ text: String) -> String {
    var bytes = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var count: UInt32 = 0
    EVP_Digest(text, text.utf8.count, &bytes, &count, EVP_sha1(), nil)
    return Data(bytes.prefix(Int(count))).base64EncodedString()
  }
}

extension Data {
  fileprivate func contains(_ text: String) -> Bool { range(of: Data(text.utf8)) != nil }
}
