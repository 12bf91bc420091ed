#if !canImport(Darwin)
  import Foundation
  import LiveQuery
  import NIOCore
  import NIOHTTP1
  import NIOPosix
  public import NIOSSL
  import NIOWebSocket

  /// WebSockets over SwiftNIO.
  public struct NIOTransport: LiveTransport {
    private let tls: TLSConfiguration

    /// - Parameter tls: what is trusted; by default what the system trusts.
    public init(tls: TLSConfiguration = .makeClientConfiguration()) { self.tls = tls }

    private typealias Channel = NIOAsyncChannel<WebSocketFrame, WebSocketFrame>

    /// A row with everything that a server lets it have.
    private static let longestMessage = 64 << 20

    public func connect(
      _ request: TransportRequest, opened: @escaping @Sendable (any LiveSocket) async -> Void,
      received: @escaping @Sendable ([UInt8]) async -> Void
    ) async throws {
      guard let channel = try await upgraded(request) else {
        throw FreshetError(.disconnected, "the server does not take the connection")
      }
      try await channel.executeThenClose { inbound, outbound in
        await opened(Socket(channel: channel.channel, outbound: outbound))
        for try await frame in inbound {
          switch frame.opcode {
          case .text: await received(Array(frame.unmaskedData.readableBytesView))
          case .ping:
            try await outbound.write(
              WebSocketFrame(fin: true, opcode: .pong, maskKey: .random(), data: frame.unmaskedData))
          case .connectionClose:
            throw FreshetError(.disconnected, Self.reason(frame.unmaskedData))
          default: break
          }
        }
      }
    }

    /// - Returns: nil when the server answered as HTTP.
    private func upgraded(_ request: TransportRequest) async throws -> Channel? {
      let isSecure = request.url.scheme == "wss"
      let host = request.url.host?.trimmingCharacters(in: ["[", "]"]) ?? ""
      let port = request.url.port ?? (isSecure ? 443 : 80)
      let context = isSecure ? try NIOSSLContext(configuration: tls) : nil
      var headers = HTTPHeaders([("Host", "\(host.contains(":") ? "[\(host)]" : host):\(port)")])
      headers.add(name: "Sec-WebSocket-Protocol", value: request.subprotocol)
      for (name, value) in request.headers { headers.add(name: name, value: value) }
      let path = request.url.path(percentEncoded: true)
      let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: path, headers: headers)
      let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton).connectTimeout(.seconds(10))
      let result = try await bootstrap.connect(host: host, port: port) { channel in
        channel.eventLoop.makeCompletedFuture {
          if let context {
            // A name to check is no address.
            let isAddress = (try? SocketAddress(ipAddress: host, port: port)) != nil
            let handler = try NIOSSLClientHandler(context: context, serverHostname: isAddress ? nil : host)
            try channel.pipeline.syncOperations.addHandler(handler)
          }
          var configuration = NIOUpgradableHTTPClientPipelineConfiguration(upgradeConfiguration: Self.upgrade(head))
          // The server's greeting may come together with its answer to the handshake.
          configuration.leftOverBytesStrategy = .forwardBytes
          return try channel.pipeline.syncOperations.configureUpgradableHTTPClientPipeline(configuration: configuration)
        }
      }
      return try await result.get()
    }

    private static func upgrade(_ head: HTTPRequestHead) -> NIOTypedHTTPClientUpgradeConfiguration<Channel?> {
      let upgrader = NIOTypedWebSocketClientUpgrader<Channel?>(maxFrameSize: longestMessage) { channel, _ in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(
            NIOWebSocketFrameAggregator(
              minNonFinalFragmentSize: 0, maxAccumulatedFrameCount: .max, maxAccumulatedFrameSize: longestMessage))
          return try Channel(wrappingChannelSynchronously: channel)
        }
      }
      return NIOTypedHTTPClientUpgradeConfiguration(upgradeRequestHead: head, upgraders: [upgrader]) { channel in
        channel.close().map { nil }
      }
    }

    /// What a close frame says: a code, then a text.
    private static func reason(_ data: ByteBuffer) -> String {
      var data = data
      guard let code = data.readInteger(as: UInt16.self) else { return "the server has closed the connection" }
      let text = data.readString(length: data.readableBytes) ?? ""
      return "the server has closed the connection: \(code) \(text)"
    }

    private struct Socket: LiveSocket {
      let channel: any NIOCore.Channel
      let outbound: NIOAsyncChannelOutboundWriter<WebSocketFrame>

      func send(_ message: [UInt8]) async throws {
        try await outbound.write(
          WebSocketFrame(fin: true, opcode: .text, maskKey: .random(), data: ByteBuffer(bytes: message)))
      }

      func close() async { try? await channel.close() }
    }
  }
#endif
