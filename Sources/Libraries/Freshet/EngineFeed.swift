import Controllers
import FreshetResults
import LiveQuery

/// One subscription at the engine of this process: a session of its own.
final class EngineFeed: ResultsFeed {
  private let engine: Engine
  private let follower: FollowerThread
  private let key: SubscriptionKey
  private let mailbox = Mailbox()

  init(_ engine: Engine, session: UInt64, query: Query, window: Window?) {
    self.engine = engine
    let published = query.publishedName
    key = SubscriptionKey(session: session, id: "list", number: 1)
    // It stays where it is, also after a `requery`.
    follower = engine.pool.follower(for: query)
    engine.output.add(mailbox, session: session)
    if let published {
      mailbox.put(.error(.published(published), isFatal: true))
      return
    }
    follower.post(.subscribe(.init(key: key, query: query, window: window, minInterval: .zero, shape: .arrays)))
  }

  deinit { close() }

  func next() async -> ListMessage? {
    await mailbox.next(wakes: { engine.pool.sessionsDrained(for: $0) })
  }

  func request(_ request: ListRequest) {
    switch request {
    case .window(let window): follower.post(.request(key, .window(window)))
    case .requery(let query, let window):
      if let name = query.publishedName {
        mailbox.put(.error(.published(name), isFatal: false))
        return
      }
      follower.post(.request(key, .requery(query, window)))
    case .locate(let values): follower.post(.request(key, .locate(values)))
    case .resync: follower.post(.request(key, .resync))
    }
  }

  func noteLaid() { mailbox.put(.laid) }

  func close() {
    mailbox.close()
    engine.output.remove(session: key.session)
    follower.post(.sessionClosed(key.session))
  }
}

extension FreshetError {
  fileprivate static func published(_ name: String) -> FreshetError {
    FreshetError(
      .badQuery, "\(name) is a published query of a server: follow it with a RemoteDatabase, or write its query here")
  }
}
