import Controllers
import FreshetResults
import LiveQuery
import Requests

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
    // The subscription stays with this follower, even after a `requery`.
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

  func request(_ request: SubscriptionRequest) {
    if case .requery(let query, _) = request, let name = query.publishedName {
      mailbox.put(.error(.published(name), isFatal: false))
    } else {
      follower.post(.request(key, request))
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
