import LiveQuery
import Logging
import ServerSupport
import Store
import Synchronization
import TestSupport
import Testing
import Wire

@testable import Server

/// An address at which a test publishes keys.
final class FakeFetcher: KeyFetcher {
  typealias Reply = @Sendable (Result<[UInt8], KeyFetchError>) -> Void
  private struct State: Sendable {
    var count = 0
    var waiting: [Reply] = []
    var isSlow = false
    var answer: Result<[UInt8], KeyFetchError>
  }
  private let state: Mutex<State>

  init(_ set: String) { state = Mutex(State(answer: .success(Array(set.utf8)))) }

  /// The number of requests.
  var count: Int { state.withLock { $0.count } }

  func publish(_ set: String) { state.withLock { $0.answer = .success(Array(set.utf8)) } }
  func fail() { state.withLock { $0.answer = .failure(KeyFetchError("it is down")) } }

  /// From now on answers wait for `answer`.
  func delay() { state.withLock { $0.isSlow = true } }

  func answer() {
    let (waiting, answer) = state.withLock { state in
      defer { state.waiting = [] }
      return (state.waiting, state.answer)
    }
    for reply in waiting { reply(answer) }
  }

  func fetch(_ address: String, reply: @escaping Reply) {
    let answer = state.withLock { state in
      state.count += 1
      if state.isSlow { state.waiting.append(reply) }
      return state.isSlow ? nil : state.answer
    }
    if let answer { reply(answer) }
  }
}

/// Keys that are fetched, and fetched again.
@Suite struct PublishedKeysTests {
  private let clock = ManualClock()
  private let date = ManualDate()

  private func authenticator(_ fetcher: FakeFetcher) -> Authenticator {
    var configuration = JWTConfiguration(algorithms: [.rs256], keys: .published("https://keys.example/jwks.json"))
    configuration.fetcher = fetcher
    var logger = Logger(label: "test")
    logger.logLevel = .critical
    return Authenticator(configuration, date: date.clock, clock: clock.clock, logger: logger)
  }

  /// Takes the immediate answer, or otherwise the later one.
  private final class Answers: Sendable {
    private let list = Mutex<[Result<Identity, FreshetError>]>([])
    var all: [String] { list.withLock { $0.map(Self.text) } }
    func add(_ answer: Result<Identity, FreshetError>) { list.withLock { $0.append(answer) } }

    static func text(_ answer: Result<Identity, FreshetError>) -> String {
      switch answer {
      case .success(let identity): identity.subject ?? ""
      case .failure(let error): error.code.rawValue
      }
    }
  }

  /// - Returns: nil when the answer comes later.
  private func ask(_ authenticator: Authenticator, _ token: String, _ later: Answers = Answers()) -> String? {
    authenticator.verify(AccessToken(token)) { later.add($0) }.map(Answers.text)
  }

  @Test func `A key that is new is fetched, at most once a minute`() async throws {
    let fetcher = FakeFetcher(TokenMaker.set(ids: ["a"]))
    let authenticator = authenticator(fetcher)
    #expect(fetcher.count == 1, "at the start")
    let old = try TokenMaker.rsa(keyID: "a").token(#"{"sub":"old"}"#)
    let new = try TokenMaker.rsa(keyID: "b").token(#"{"sub":"new"}"#)
    #expect(ask(authenticator, old) == "old")
    fetcher.publish(TokenMaker.set(ids: ["a", "b"]))
    #expect(ask(authenticator, new) == "unauthenticated" && fetcher.count == 1)
    clock.advance(by: .seconds(59))
    #expect(ask(authenticator, new) == "unauthenticated" && fetcher.count == 1)
    clock.advance(by: .seconds(1))
    let answers = Answers()
    #expect(ask(authenticator, new, answers) == nil && answers.all == ["new"] && fetcher.count == 2)
    #expect(ask(authenticator, new) == "new" && ask(authenticator, old) == "old" && fetcher.count == 2)
  }

  @Test func `A key that is gone is not believed after the next fetch`() async throws {
    let fetcher = FakeFetcher(TokenMaker.set(ids: ["a"]))
    let authenticator = authenticator(fetcher)
    let old = try TokenMaker.rsa(keyID: "a").token(#"{"sub":"old"}"#)
    let new = try TokenMaker.rsa(keyID: "b").token(#"{"sub":"new"}"#)
    fetcher.publish(TokenMaker.set(ids: ["b"]))
    clock.advance(by: .seconds(60))
    let answers = Answers()
    #expect(ask(authenticator, new, answers) == nil && answers.all == ["new"])
    #expect(ask(authenticator, old) == "unauthenticated")
  }

  @Test(arguments: ["{}", "", "{\"keys\":[]}", "{\"keys\":[{\"kty\":\"oct\",\"k\":\"AAAA\"}]}", "nothing"])
  func `A fetch that fails leaves the keys that were there`(answer: String) async throws {
    let fetcher = FakeFetcher(TokenMaker.set(ids: ["a"]))
    let authenticator = authenticator(fetcher)
    let old = try TokenMaker.rsa(keyID: "a").token(#"{"sub":"old"}"#)
    let new = try TokenMaker.rsa(keyID: "b").token(#"{"sub":"new"}"#)
    if answer == "nothing" { fetcher.fail() } else { fetcher.publish(answer) }
    clock.advance(by: .seconds(60))
    let answers = Answers()
    #expect(ask(authenticator, new, answers) == nil && answers.all == ["unauthenticated"] && fetcher.count == 2)
    #expect(ask(authenticator, old) == "old")
  }

  @Test func `Who waits for a fetch shares it, and is answered after five seconds at most`() async throws {
    let fetcher = FakeFetcher(TokenMaker.set(ids: ["a"]))
    let authenticator = authenticator(fetcher)
    let new = try TokenMaker.rsa(keyID: "b").token(#"{"sub":"new"}"#)
    clock.advance(by: .seconds(60))
    fetcher.delay()
    let answers = Answers()
    for _ in 0..<3 { #expect(ask(authenticator, new, answers) == nil) }
    #expect(fetcher.count == 2)
    clock.advance(by: .milliseconds(4_900))
    authenticator.look()
    #expect(answers.all.isEmpty)
    clock.advance(by: .milliseconds(100))
    authenticator.look()
    #expect(answers.all == Array(repeating: "unauthenticated", count: 3))
    fetcher.publish(TokenMaker.set(ids: ["b"]))
    fetcher.answer()
    #expect(answers.all.count == 3, "the late answer is nobody's")
    #expect(ask(authenticator, new) == "unauthenticated" && fetcher.count == 2)
  }

  @Test func `Without any keys tokens cannot be judged, and that is not their fault`() async throws {
    let fetcher = FakeFetcher("")
    fetcher.fail()
    let authenticator = authenticator(fetcher)
    let token = try TokenMaker.rsa(keyID: "a").token(#"{"sub":"u"}"#)
    #expect(ask(authenticator, token) == "overloaded")
    fetcher.publish(TokenMaker.set(ids: ["a"]))
    clock.advance(by: .seconds(60))
    let answers = Answers()
    #expect(ask(authenticator, token, answers) == nil && answers.all == ["u"])
  }

  @Test func `Nothing is fetched for a token that would be refused anyway`() async throws {
    let fetcher = FakeFetcher(TokenMaker.set(ids: ["a"]))
    let authenticator = authenticator(fetcher)
    clock.advance(by: .seconds(60))
    let maker = TokenMaker.rsa(keyID: "b")
    for token in [try maker.token("{\"exp\":1}"), "x", try maker.token("{}", header: #"{"alg":"none","kid":"b"}"#)] {
      #expect(ask(authenticator, token) == "unauthenticated")
    }
    #expect(fetcher.count == 1)
  }

  @Test func `A token that names no key is tried with those that fit`() async throws {
    let set = """
      {"keys":[{"kty":"oct","k":"AAAA"},{"kty":"RSA","use":"enc","n":"\(TokenMaker.modulus)","e":"AQAB"},
      {"kty":"RSA","n":"AQAB","e":"AQAB","kid":"short"},{"kty":"new"},7,
      {"kty":"RSA","kid":"a","use":"sig","n":"\(TokenMaker.modulus)","e":"AQAB"}]}
      """
    let authenticator = authenticator(FakeFetcher(set))
    #expect(ask(authenticator, try TokenMaker.rsa().token(#"{"sub":"u"}"#)) == "u")
    for id in ["short", "b"] {
      #expect(ask(authenticator, try TokenMaker.rsa(keyID: id).token("{}")) == "unauthenticated")
    }
  }
}
