import Foundation
import Synchronization

/// Gives a client its tokens, in their order; the last one again and again.
final class TokenSource: Sendable {
  private struct State {
    var tokens: [String]
    var asked = 0
  }

  private let state: Mutex<State>

  init(_ tokens: String...) { state = Mutex(State(tokens: tokens)) }

  /// How often a token was asked for.
  var asked: Int { state.withLock(\.asked) }

  /// Gives this token from now on.
  func give(_ token: String) { state.withLock { $0.tokens = [token] } }

  @Sendable func next() -> String {
    state.withLock { state in
      state.asked += 1
      return state.tokens.count > 1 ? state.tokens.removeFirst() : state.tokens[0]
    }
  }
}
