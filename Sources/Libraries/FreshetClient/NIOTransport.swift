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
    private var tls: TLSConfiguration

    /// - Parameter tls: the trusted authorities; by default the system's.
    public init(tls: TLSConfiguration = .makeClientConfiguration()) { self.tls = tls }

    private typealias Channel = NIOAsyncChannel<WebSocketFrame, WebSocketFrame>

    /// The longest message: a row at the server's limits fits.
    private static let longestMessage = 64 << 20

    public func connect(
      _ request: TransportRequest, opened: @escaping @Sendable (any LiveSocket) async -> Void,
      received: @escaping @Sendable ([UInt8]) async -> Void
    ) async throws {
      let channel = try await upgraded(request)
      try await channel.executeThenClose { inbound, outbound in
        await opened(Socket(channel: channel.channel, outbound: outbound))
        for try await frame in inbound {
          switch frame.opcode {
          case .text: await received(Array(frame.unmaskedData.readableBytesView))
          case .ping:
            try await outbound.write(
              WebSocketFrame(fin: true, opcode: .pong, maskKey: .random(), data: frame.unmaskedData))
          case .connectionClose:
            throw ConnectionClosed(frame.unmaskedData)
          default: break
          }
        }
      }
    }

    /// The server's response to the handshake.
    private enum Answer: Sendable {
      case upgraded(Channel)
      case refused(EventLoopFuture<HTTPResponseStatus>)
    }

    /// Two event loops that open their first connections at once may both create the metadata of these generic types,
    /// and Swift 6.3's runtime then lets one of them read incomplete metadata (signal 11). Creating the types here
    /// first prevents it.
    private static let handlerTypes: [Any.Type] = [
      ByteToMessageHandler<HTTPResponseDecoder>.self, HTTPResponseDecoder.self,
      NIOTypedHTTPClientUpgradeHandler<Answer>.self,
    ]

    private func upgraded(_ request: TransportRequest) async throws -> Channel {
      _ = Self.handlerTypes
      let isSecure = request.url.scheme == "wss"
      let host = request.url.host?.trimmingCharacters(in: ["[", "]"]) ?? ""
      let port = request.url.port ?? (isSecure ? 443 : 80)
      let context = isSecure ? try NIOSSLContext(configuration: tls) : nil
      var headers = HTTPHeaders([("Host", "\(host.contains(":") ? "[\(host)]" : host):\(port)")])
      headers.add(name: "Sec-WebSocket-Protocol", value: request.subprotocol)
      let path = request.url.path(percentEncoded: true)
      let uri = request.url.query(percentEncoded: true).map { "\(path)?\($0)" } ?? path
      let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: uri, headers: headers)
      let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton).connectTimeout(.seconds(10))
      let result = try await connected(bootstrap, host, port) { channel in
        channel.eventLoop.makeCompletedFuture {
          if let context {
            // TLS sends and checks names of hosts, not addresses.
            let isAddress = (try? SocketAddress(ipAddress: host, port: port)) != nil
            let handler = try NIOSSLClientHandler(context: context, serverHostname: isAddress ? nil : host)
            try channel.pipeline.syncOperations.addHandler(handler)
          }
          var configuration = NIOUpgradableHTTPClientPipelineConfiguration(upgradeConfiguration: Self.upgrade(head))
          // The server's greeting may arrive together with its response to the handshake.
          configuration.leftOverBytesStrategy = .forwardBytes
          return try channel.pipeline.syncOperations.configureUpgradableHTTPClientPipeline(configuration: configuration)
        }
      }
      switch try await result.get() {
      case .upgraded(let channel): return channel
      case .refused(let status):
        throw FreshetError(.disconnected, "there is no Freshet server: the answer is \(try await status.get())")
      }
    }

    private func connected(
      _ bootstrap: ClientBootstrap, _ host: String, _ port: Int,
      _ initialize: @escaping @Sendable (any NIOCore.Channel) -> EventLoopFuture<EventLoopFuture<Answer>>
    ) async throws -> EventLoopFuture<Answer> {
      do { return try await bootstrap.connect(host: host, port: port, channelInitializer: initialize) } catch {
        guard let error = error as? NIOConnectionError else { throw error }
        let failures = error.connectionErrors.map(\.error)
        let isRefused = failures.contains { ($0 as? IOError)?.errnoCode == ECONNREFUSED }
        let sentence = isRefused ? "nobody answers" : failures.first.map { "\($0)" } ?? "there is no host \(host)"
        throw FreshetError(.disconnected, sentence)
      }
    }

    private static func upgrade(_ head: HTTPRequestHead) -> NIOTypedHTTPClientUpgradeConfiguration<Answer> {
      let upgrader = NIOTypedWebSocketClientUpgrader<Answer>(maxFrameSize: longestMessage) { channel, _ in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(
            NIOWebSocketFrameAggregator(
              minNonFinalFragmentSize: 0, maxAccumulatedFrameCount: .max, maxAccumulatedFrameSize: longestMessage))
          return .upgraded(try Channel(wrappingChannelSynchronously: channel))
        }
      }
      return NIOTypedHTTPClientUpgradeConfiguration(upgradeRequestHead: head, upgraders: [upgrader]) { channel in
        channel.eventLoop.makeCompletedFuture {
          let reader = StatusReader(channel.eventLoop.makePromise())
          try channel.pipeline.syncOperations.addHandler(reader)
          return .refused(reader.status.futureResult)
        }
      }
    }

    /// Reads the status of a response that is no upgrade, and closes the connection.
    private final class StatusReader: ChannelInboundHandler {
      typealias InboundIn = HTTPClientResponsePart
      let status: EventLoopPromise<HTTPResponseStatus>

      init(_ status: EventLoopPromise<HTTPResponseStatus>) { self.status = status }

      func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(let head) = unwrapInboundIn(data) else { return }
        status.succeed(head.status)
        context.close(promise: nil)
      }

      func channelInactive(context: ChannelHandlerContext) { status.fail(ChannelError.eof) }
      func errorCaught(context: ChannelHandlerContext, error: any Error) { status.fail(error) }
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

  extension ConnectionClosed {
    /// Parses a close frame: a code, then a text.
    fileprivate init(_ data: ByteBuffer) {
      var data = data
      // RFC 6455: 1005 stands for a frame without a code.
      self.init(code: data.readInteger() ?? 1005, reason: data.readString(length: data.readableBytes) ?? "")
    }
  }
#endif
