import Controllers
import Gateway
import LiveQuery
package import Logging
import Synchronization
import Wire

/// A running server: gateway in front, controllers behind, a writer aside.
///
/// Everything in it is constant after `init`, or guards itself.
package final class FreshetServer: Sendable {
  let configuration: ServerConfiguration
  let logger: Logger
  let sessions = SessionTable()
  let output: SessionOutput
  let pool: ControllerPool
  /// Nil when clients may not write.
  let transactions: TransactionQueue?
  /// New with every start: versions of before are worth nothing.
  let epoch = String(UInt64.random(in: 0...UInt64.max), radix: 36)
  let isReady = Atomic<Bool>(true)
  private let gateway: Gateway
  private let front: SessionFront

  /// Opens the database, starts the workers and listens.
  ///
  /// - Throws: `ServerError` with one sentence for the operator.
  package init(_ configuration: ServerConfiguration, logger: Logger) throws {
    self.configuration = configuration
    self.logger = logger
    output = SessionOutput(sessions: sessions)
    do {
      transactions = configuration.allowsWrites ? try TransactionQueue(configuration) : nil
      pool = try ControllerPool(
        WorkerConfiguration(configuration), workers: configuration.workers, output: output, logger: logger)
    } catch {
      throw ServerError("cannot open \(configuration.database): \(ServerError.sentence(of: error))")
    }
    front = SessionFront()
    do throws(GatewayError) {
      gateway = try Gateway(configuration: FreshetServer.gatewayConfiguration(configuration), delegate: front)
    } catch {
      pool.stop()
      throw ServerError(error.message)
    }
    output.start(gateway)
    front.start(self)
  }

  private static func gatewayConfiguration(_ configuration: ServerConfiguration) -> GatewayConfiguration {
    var result = GatewayConfiguration()
    result.host = configuration.host
    result.port = configuration.port
    result.publicDirectory = configuration.publicDirectory
    result.routes = ["/v1/", "/healthz", "/readyz"]
    result.messageLimit = configuration.messageLimit
    result.bodyLimit = configuration.messageLimit
    result.staticHeaders = [
      (
        "Content-Security-Policy",
        "default-src 'self'; connect-src 'self' ws: wss:; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'"
      ),
      ("X-Content-Type-Options", "nosniff"),
      ("Referrer-Policy", "no-referrer"),
      ("Cache-Control", "no-cache"),
    ]
    return result
  }

  package var port: Int { gateway.port }

  /// Stops in order: not ready, no new connections, what was asked to be written is written, everybody is told 1001, and
  /// the threads end. Blocks for `grace` at most, and a transaction that runs.
  package func stop() {
    isReady.store(false, ordering: .relaxed)
    gateway.stopListening()
    transactions?.drain()
    gateway.stop(code: 1001, reason: "the server is stopping", grace: configuration.grace)
    pool.stop()
    // Front, server and gateway keep one another.
    front.stop()
  }
}

/// What keeps a server from starting, as one sentence.
package struct ServerError: Error, CustomStringConvertible {
  package let description: String
  package init(_ description: String) { self.description = description }

  static func sentence(of error: any Error) -> String {
    (error as? FreshetError)?.message ?? "\(error)"
  }
}
