import Ground
import Logging
import Store
import Synchronization

/// The keys that are published at an address: fetched at the start, and again when a token names one that is not among
/// them.
///
/// A fetch that fails leaves the keys that were there. Any thread: one lock.
final class PublishedKeys: Sendable {
  /// The least time between two fetches: tokens with invented key ids must not make this server flood the issuer.
  static let interval = Duration.seconds(60)
  /// The longest time that a fetch may take.
  static let deadline = Duration.seconds(5)
  /// So many may wait for a fetch; later ones are refused.
  private static let waiterLimit = 1_000

  private struct State {
    /// Nil before the first fetch that succeeds.
    var keys: TokenKeys?
    /// When the last fetch began; nil before the first one.
    var begun: Instant?
    var isFetching = false
    /// The number of the newest fetch: results of earlier ones come too late.
    var number = 0
    var waiters: [@Sendable () -> Void] = []
  }

  private let state = Mutex(State())
  private let address: String
  private let algorithms: [SignatureAlgorithm]
  private let fetcher: any KeyFetcher
  private let clock: MonotonicClock
  private let logger: Logger

  init(
    _ address: String, for algorithms: [SignatureAlgorithm], _ fetcher: any KeyFetcher, clock: MonotonicClock,
    logger: Logger
  ) {
    self.address = address
    self.algorithms = algorithms
    self.fetcher = fetcher
    self.clock = clock
    self.logger = logger
  }

  /// The last keys that were fetched; nil before the first ones.
  var current: TokenKeys? { state.withLock { $0.keys } }

  /// Fetches them, unless they were fetched a moment ago.
  ///
  /// - Parameter end: called when the fetch has ended, however it did, on any thread.
  /// - Returns: false if no keys are fetched: then `end` is not called.
  func refresh(_ end: @escaping @Sendable () -> Void) -> Bool {
    let now = clock.now
    enum Step { case refused, waits, begins(Int) }
    let step: Step = state.withLock { state in
      if state.isFetching, state.waiters.count >= Self.waiterLimit { return .refused }
      if state.isFetching {
        state.waiters.append(end)
        return .waits
      }
      if let begun = state.begun, now < begun + Self.interval { return .refused }
      state.isFetching = true
      state.begun = now
      state.number += 1
      state.waiters = [end]
      return .begins(state.number)
    }
    switch step {
    case .refused: return false
    case .waits: return true
    case .begins(let number):
      fetcher.fetch(address) { [self] result in take(result, of: number) }
      return true
    }
  }

  /// Gives up a fetch that takes too long. To be called now and then.
  func look() {
    let now = clock.now
    let late: Int? = state.withLock { state in
      guard state.isFetching, let begun = state.begun, now >= begun + Self.deadline else { return nil }
      return state.number
    }
    if let late { take(.failure(.late), of: late) }
  }

  private func take(_ result: Result<[UInt8], KeyFetchError>, of number: Int) {
    var keys: TokenKeys?
    var problem: String?
    switch result {
    case .failure(let error): problem = error.reason
    case .success(let body):
      do throws(ServerError) {
        keys = try TokenKeys.set(json: String(decoding: body, as: UTF8.self), for: algorithms)
      } catch { problem = "what is there \(error)" }
    }
    let waiters: [@Sendable () -> Void]? = state.withLock { state in
      guard state.isFetching, state.number == number else { return nil }
      state.isFetching = false
      if let keys { state.keys = keys }
      defer { state.waiters = [] }
      return state.waiters
    }
    guard let waiters else { return }
    if let problem { logger.warning("the keys of tokens cannot be fetched from \(address): \(problem)") }
    for waiter in waiters { waiter() }
  }
}
