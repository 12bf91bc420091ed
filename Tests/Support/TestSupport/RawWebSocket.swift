/// A WebSocket client that does nothing by itself: the test makes every frame, valid or not.
package final class RawWebSocket {
  /// The fragments so far of a message.
  private var message: [UInt8]?

  package enum Opcode: UInt8 {
    case continuation = 0
    case text = 1
    case binary = 2
    case close = 8
    case ping = 9
    case pong = 10
  }

  package struct Frame {
    package var opcode: Opcode
    package var final: Bool
    package var payload: [UInt8]

    package var text: String { String(decoding: payload, as: UTF8.self) }
    /// The status code of a Close frame.
    package var code: Int? { payload.count >= 2 ? Int(payload[0]) << 8 | Int(payload[1]) : nil }
  }

  package let socket: RawSocket
  package let handshake: RawResponse

  /// Connects and upgrades; throws unless the server switched protocols.
  package init(
    host: String = "127.0.0.1", port: Int, path: String = "/v1/live", headers: [String] = [],
    receiveBuffer: Int32? = nil, trusting certificate: String? = nil
  ) throws {
    socket = try RawSocket(host: host, port: port, receiveBuffer: receiveBuffer)
    if let certificate { try socket.startTLS(trusting: certificate) }
    let standard = RawWebSocket.handshakeHeaders + ["Sec-WebSocket-Protocol: freshet.v1"]
    handshake = try socket.request("GET", path, headers: standard + headers)
    guard handshake.status == 101 else {
      throw RawSocket.Failure(description: "the handshake was answered with \(handshake.status)")
    }
  }

  package static let handshakeHeaders = [
    "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
  ]

  /// A masked frame as bytes.
  package static func encode(_ opcode: Opcode, _ payload: [UInt8], final: Bool = true) -> [UInt8] {
    let mask: [UInt8] = [0x37, 0xfa, 0x21, 0x3d]
    var bytes = [opcode.rawValue | (final ? 0x80 : 0)]
    let length = UInt64(payload.count)
    switch length {
    case ..<126: bytes.append(0x80 | UInt8(length))
    case ..<65536: bytes += [0x80 | 126, UInt8(length >> 8), UInt8(length & 255)]
    default: bytes += [0x80 | 127] + (0..<8).map { UInt8(truncatingIfNeeded: length >> (56 - 8 * $0)) }
    }
    bytes += mask
    bytes += payload.enumerated().map { $1 ^ mask[$0 & 3] }
    return bytes
  }

  package func send(_ opcode: Opcode, _ payload: [UInt8] = [], final: Bool = true) throws {
    try socket.write(RawWebSocket.encode(opcode, payload, final: final))
  }

  package func send(_ text: String) throws {
    try send(.text, Array(text.utf8))
  }

  /// The next control frame, or message: its fragments are put together.
  package func readFrame() throws -> Frame {
    while true {
      let frame = try readFragment()
      if frame.opcode == .continuation || !frame.final {
        guard (frame.opcode == .continuation) == (message != nil) else {
          throw RawSocket.Failure(description: "a fragment without its message")
        }
        message = (message ?? []) + frame.payload
        guard frame.final, let whole = message else { continue }
        message = nil
        return Frame(opcode: .text, final: true, payload: whole)
      }
      return frame
    }
  }

  private func readFragment() throws -> Frame {
    let head = try socket.read(2)
    guard head[1] & 0x80 == 0 else { throw RawSocket.Failure(description: "a server's frame was masked") }
    let short = Int(head[1])
    let extended = short == 126 ? 2 : short == 127 ? 8 : 0
    let length = extended == 0 ? short : try socket.read(extended).reduce(0) { $0 << 8 | Int($1) }
    guard let opcode = Opcode(rawValue: head[0] & 15) else {
      throw RawSocket.Failure(description: "the server sent an unknown opcode")
    }
    guard head[0] & 0x70 == 0 else { throw RawSocket.Failure(description: "the server set a reserved bit") }
    return Frame(opcode: opcode, final: head[0] & 0x80 != 0, payload: try socket.read(length))
  }

  /// Reads frames until the server's Close; its code.
  package func readCloseCode() throws -> Int? {
    while true {
      let frame = try readFrame()
      if frame.opcode == .close { return frame.code }
    }
  }

  package func close() {
    socket.close()
  }
}
