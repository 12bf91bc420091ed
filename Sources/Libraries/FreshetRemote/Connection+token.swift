import Foundation
import LiveQuery
import Wire

// Authentication: the message `authenticate`, first on every connection and again before the token expires.
extension Connection {
  /// - Throws: an error, which counts as a failure to connect.
  func newToken() async throws -> String? {
    do { return try await token?() } catch {
      throw FreshetError(.unauthenticated, "there is no token: \(error)")
    }
  }

  func answeredToken(_ type: String, _ json: JSONValue) throws(FreshetError) {
    if type == "error" { return refusedToken(try FreshetError(json)) }
    guard type == "authenticated" else { return }
    isKnown = true
    let expires: Double? =
      switch json["expires"] {
      case .integer(let seconds): Double(seconds)
      case .real(let seconds): seconds
      default: nil
      }
    renewToken(after: renewal.accepted(expires: expires, now: Date().timeIntervalSince1970))
    sendTransactions()
    guard let refused = refusal else { return }
    refusal = nil
    for id in subscriptions.keys.sorted() {
      if subscriptions[id]?.isEnded == true {
        // The delay lasts until the list has rows again.
        subscriptions[id]?.delay(by: refused)
        subscribe(id)
      } else {
        subscriptions[id]?.endDelay()
      }
    }
  }

  private func refusedToken(_ error: FreshetError) {
    refusal = error
    renewToken(after: renewal.refused())
    for id in subscriptions.keys { subscriptions[id]?.delay(by: error, outlastsUpdates: true) }
    // Transactions that were sent may have been committed: they wait for their answers.
    let unsent = transactions.filter { $0.epoch == nil }
    transactions.removeAll { $0.epoch == nil }
    for transaction in unsent { transaction.answer.resume(throwing: error) }
  }

  /// Whether a list that the server has ended may return with a new token, or as another client.
  func awaitsToken(_ error: FreshetError) -> Bool {
    token != nil && (error.code == .unauthenticated || refusal != nil && error.code == .notAllowed)
  }

  /// - Parameter seconds: nil: never.
  private func renewToken(after seconds: Double?) {
    renewing?.cancel()
    guard let seconds else { return }
    renewing = Task {
      try? await Task.sleep(for: .seconds(seconds))
      if !Task.isCancelled { await sendNewToken() }
    }
  }

  /// The id of `authenticate` messages.
  static let tokenID = "token"

  static func authentication(_ token: String) -> [UInt8] {
    ClientMessage.authenticate(AccessToken(token)).text(id: tokenID)
  }

  /// Clocks differ: a token may expire before this one says so.
  func tokenExpired() {
    if token != nil { renewToken(after: renewal.expired()) }
  }

  private func sendNewToken() async {
    let socket = outgoing
    do {
      // A new connection begins with its own token.
      if let token = try await newToken() { socket?.yield(Self.authentication(token)) }
    } catch {
      if !Task.isCancelled { renewToken(after: renewal.refused()) }
    }
  }
}
