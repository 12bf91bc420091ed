import Foundation
import FreshetClient
import LiveQuery
import ServerSupport
import Synchronization
import TestSupport
import Testing

/// The transport of `FreshetClient` and of `freshet watch`, against a server that follows a script.
@Suite struct TransportTests {
  /// The messages that came, and the end: nil when the connection was lost.
  private func run(
    _ url: URL, opened: @escaping @Sendable (any LiveSocket) async -> Void = { _ in },
    received: @escaping @Sendable (String) async -> Void = { _ in }
  ) async throws -> (messages: [String], error: (any Error)?) {
    let messages = Mutex<[String]>([])
    let request = TransportRequest(url: url, subprotocol: "freshet.v1")
    do {
      try await WebSocketTransport().connect(request, opened: opened) { message in
        let text = String(decoding: message, as: UTF8.self)
        messages.withLock { $0.append(text) }
        await received(text)
      }
    } catch { return (messages.withLock { $0 }, error) }
    return (messages.withLock { $0 }, nil)
  }

  @Test func `A greeting that comes together with the handshake's answer is read`() async throws {
    let server = try ScriptedServer(frames: ScriptedServer.frame(1, "hello") + ScriptedServer.closing(1000))
    let (messages, error) = try await run(server.url)
    #expect(messages == ["hello"] && (error as? ConnectionClosed)?.code == 1000)
  }

  @Test func `Messages are whole, and everything but text is passed over`() async throws {
    let frames =
      ScriptedServer.frame(1, "frag", isFinal: false) + ScriptedServer.frame(9, "ping")
      + ScriptedServer.frame(0, "men", isFinal: false) + ScriptedServer.frame(0, "ted")
      + ScriptedServer.frame(2, "binary") + ScriptedServer.frame(1, "last") + ScriptedServer.closing(4401, "no token")
    let (messages, error) = try await run(ScriptedServer(frames: frames).url)
    #expect(messages == ["fragmented", "last"])
    let closed = try #require(error as? ConnectionClosed)
    #expect(closed.code == 4401 && closed.reason == "no token")
  }

  @Test func `A close frame without a code is 1005`() async throws {
    let (_, error) = try await run(ScriptedServer(frames: [0x88, 0]).url)
    #expect((error as? ConnectionClosed)?.code == 1005)
  }

  @Test func `The next message is read when the one before was taken`() async throws {
    let all = (0..<400).map { "message \($0)" }
    let frames = all.flatMap { ScriptedServer.frame(1, $0) } + ScriptedServer.closing(1000)
    let busy = Atomic<Int>(0)
    let overlaps = Atomic<Int>(0)
    let url = try ScriptedServer(frames: frames).url
    let (messages, _) = try await run(
      url,
      received: { text in
        if busy.add(1, ordering: .relaxed).newValue > 1 { overlaps.add(1, ordering: .relaxed) }
        if text.hasSuffix("00") { try? await Task.sleep(for: .milliseconds(5)) } else { await Task.yield() }
        busy.subtract(1, ordering: .relaxed)
      })
    #expect(messages == all && overlaps.load(ordering: .relaxed) == 0)
  }

  /// By default libwebsockets hangs up on a silent server after 310 seconds.
  @Test(.enabled(if: TestDepth.isLong, "takes five minutes"))
  func `A message may take minutes`() async throws {
    let frames = ScriptedServer.frame(1, "one") + ScriptedServer.frame(1, "two") + ScriptedServer.closing(1000)
    let (messages, error) = try await run(
      ScriptedServer(frames: frames).url, received: { _ in try? await Task.sleep(for: .seconds(160)) })
    #expect(messages == ["one", "two"] && (error as? ConnectionClosed)?.code == 1000)
  }

  @Test(arguments: ["404 Not Found", "302 Found", "401 Unauthorized", "503 Service Unavailable"])
  func `A refused handshake is reported with its status`(status: String) async throws {
    let (messages, error) = try await run(ScriptedServer(status: status).url)
    let refused = try #require(error as? FreshetError)
    #expect(refused.code == .disconnected && refused.message == "there is no Freshet server: the answer is \(status)")
    #expect(messages.isEmpty)
  }

  @Test func `No server and no host are reported as such`() async throws {
    let (_, none) = try await run(URL(string: "ws://127.0.0.1:1/")!)
    #expect((none as? FreshetError)?.message == "nobody answers")
    let (_, nowhere) = try await run(URL(string: "ws://no-such-host.invalid:80/")!)
    #expect((nowhere as? FreshetError)?.message == "there is no host no-such-host.invalid", "\(nowhere as Any)")
  }

  @Test func `Closing ends the connection, and nothing is sent afterwards`() async throws {
    let socket = Mutex<(any LiveSocket)?>(nil)
    let (messages, error) = try await run(ScriptedServer(frames: ScriptedServer.frame(1, "hello")).url) {
      opened in
      socket.withLock { $0 = opened }
    } received: { _ in
      let opened = socket.withLock { $0 }
      try? await opened?.send(Array("thanks".utf8))
      await opened?.close()
    }
    #expect(messages == ["hello"] && !(error is ConnectionClosed))
    let closed = try #require(socket.withLock { $0 })
    await #expect(throws: (any Error).self) { try await closed.send([0x31]) }
  }

  @Test func `A message beyond the limit ends the connection`() async throws {
    let header: [UInt8] = [0x81, 127, 0, 0, 0, 0, 0x04, 0x10, 0, 0]
    let server = try ScriptedServer(frames: header + [UInt8](repeating: 0x20, count: 65 << 20))
    let (messages, error) = try await run(server.url)
    #expect(messages.isEmpty && (error as? FreshetError)?.message == "the server's message is longer than 64 MB")
  }

  @Test func `A file without certificates is refused before connecting`() throws {
    for path in ["/etc/hostname", "/nonexistent"] {
      let error = #expect(throws: FreshetError.self) { try WebSocketTransport(trusting: path) }
      #expect(error?.message == "\(path) holds no certificate in PEM format")
    }
  }
}
