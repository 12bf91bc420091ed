import Following
import Lists
import LiveQuery
import QueryCompiler
import RankedCollections
package import Requests
import Store
import Wire

// Answers requests that clients make of their subscriptions.
extension Delivery {
  package func perform(_ asked: AskedRequest, _ key: SubscriptionKey) {
    let limit = context.configuration.deferredRequests
    if let subscription = subscription(key) {
      if case .resync = asked.request { return startOver(subscription) }
      guard subscription.state.ask(asked, limit: limit) else {
        return output.send(.error(Self.tooManyRequests, isFatal: false), to: subscription)
      }
      return answerNext(subscription)
    }
    // Otherwise the subscription has ended, and the client has the error or will get it.
    guard case .subscribe(_, let later)? = lists.requests.entry(of: .subscription(key))?.subject else { return }
    guard later.count < limit else {
      return output.send(.error(Self.tooManyRequests, isFatal: false), shape: .arrays, to: key)
    }
    lists.requests.update(.subscription(key)) { subject in
      if case .subscribe(let command, let later) = subject {
        subject = .subscribe(command, later: later + CollectionOfOne(asked))
      }
    }
  }

  private static let tooManyRequests = FreshetError(
    .limitExceeded, "too many requests while a snapshot is on its way")

  /// Answers waiting requests in the order made. Each answer follows the patch or snapshot that leads to the newest
  /// version.
  ///
  /// - Parameter asked: the number of ticks that had seen changes when the first request was made; nil if it is made
  ///   now.
  func answerNext(_ subscription: Subscription, askedAt asked: Int? = nil) {
    let asked = asked ?? lists.ticks
    while let request = subscription.state.next {
      let list = subscription.list
      if case .requery(let wanted, let window) = request {
        guard answerRequery(wanted, window, subscription, askedAt: asked) else { return }
        continue
      }
      guard list.isFollowing || (list.canReadContents && list.machine.answers(askedAt: asked)) else {
        wait(subscription, list.id, askedAt: asked)
        return lists.hurry(list)
      }
      if subscription.isBehind {
        // This may send a snapshot, and the end of a snapshot calls this function again.
        bringUpToDate(subscription)
        if subscription.isBehind {
          // Contents could not be read. When they can be, the patch is sent, and then the answer.
          if subscription.state.isOpen { wait(subscription, list.id, askedAt: asked) }
          return
        }
      } else {
        answer(subscription.state.takeNext(), subscription)
      }
    }
  }

  /// Gives the subscription the list that it requests, whatever the state of its former list is.
  ///
  /// - Returns: false if the answer must wait for the list.
  private func answerRequery(
    _ wanted: Query, _ window: Window?, _ subscription: Subscription, askedAt asked: Int
  ) -> Bool {
    let contents = WantedContents(window: window)
    switch lists.find(wanted, contents, for: .session(subscription.key.session), askedAt: asked) {
    case .waits(let id):
      wait(subscription, id, askedAt: asked)
      return false
    case .ready(let list) where !subscription.group.state.sentState.precedes(list):
      // If the client was sent a newer state than the list shows, it waits for the list to reach that state, and gets
      // no patches until then.
      subscription.list.audience.groups.setApart(subscription)
      wait(subscription, list.id, askedAt: lists.ticks)
      lists.hurry(list)
      return false
    case .ready(let list):
      _ = subscription.state.takeNext()
      requery(list, wanted, window, subscription)
      return true
    }
  }

  private func wait(_ subscription: Subscription, _ id: Int, askedAt asked: Int) {
    let key = subscription.key
    lists.requests.add(.next(key), of: .subscription(key), for: id, .list(asked: asked))
  }

  /// Called when the run or read that the first request waits for has failed.
  func refuseNext(of key: SubscriptionKey, _ error: FreshetError) {
    guard let subscription = subscription(key), subscription.state.dropNext() else { return }
    output.send(.error(error, isFatal: false), to: subscription)
    joinGroups(subscription)
    answerNext(subscription)
  }

  /// Answers a request. Precondition: the client has the newest version.
  private func answer(_ asked: AskedRequest, _ subscription: Subscription) {
    switch asked.request {
    case .window(let window), .fetch(let window): sendRows(window, for: asked, subscription)
    case .locate(let key): locate(key, subscription)
    case .requery, .resync: startOver(subscription)
    }
  }

  private func locate(_ key: [SQLValue], _ subscription: Subscription) {
    let list = subscription.list
    let count = list.compiled.keyColumns.count
    guard let identity = list.reader.identity(of: key) else {
      let error = FreshetError(.badMessage, "key must have \(count) value\(count == 1 ? "" : "s")")
      return output.send(.error(error, isFatal: false), to: subscription)
    }
    output.send(.located(key: key, place: list.result.place(of: identity)), to: subscription)
  }

  /// Replaces the subscription's query. If both queries identify rows in the same way, the client gets a patch.
  private func requery(_ list: LiveList, _ wanted: Query, _ window: Window?, _ subscription: Subscription) {
    let before = subscription.list
    before.audience.subscriptions[subscription.key] = nil
    before.audience.groups.setApart(subscription)
    lists.noteIdle(before)
    list.audience.subscriptions[subscription.key] = subscription
    list.advance { $0.gotClient() }
    subscription.list = list
    let isSameKind =
      before.query.from == wanted.from && before.compiled.columns == list.compiled.columns
      && before.compiled.keyColumns == list.compiled.keyColumns && before.query.select == wanted.select
      // A patch can change the values of totals, but not which totals exist.
      && before.query.totals == wanted.totals
    if isSameKind, !before.machine.awaitsSchema, list.canReadContents, sendRequeried(subscription, window) {
      return joinGroups(subscription)
    }
    if let window { subscription.group.state.window = window }
    startOver(subscription)
  }

  // MARK: - Rows

  /// Answers `window` and `fetch` with rows of the newest version. Precondition: the client has it.
  private func sendRows(_ wanted: Window, for asked: AskedRequest, _ subscription: Subscription) {
    let list = subscription.list
    let key = subscription.key
    let range = wanted.range(total: list.result.newest.tree.count)
    list.audience.groups.setApart(subscription)
    if range.count > SnapshotAnswers.rowsReadHere, subscription.state.mayRead(attempts: ListMachine.joinAttempts) {
      let wanted = WantedContents(window: wanted)
      guard let read = lists.read(wanted, of: list, for: .session(key.session)) else { return }
      lists.requests.add(.next(key), of: .subscription(key), for: list.id, .contents(job: read.id))
      return subscription.state.read(read, for: asked)
    }
    do throws(FreshetError) {
      sendRows(try list.contents(range), nil, answering: asked.request, subscription)
    } catch { refuse(subscription, error) }
  }

  /// Called when a reader has read the rows that `window` or `fetch` requested.
  ///
  /// - Parameter hasMoved: whether the rows belong to a newer version than the client's, so that the request is made
  ///   again.
  func answer(_ subscription: Subscription, _ read: PendingRead, hasMoved: Bool) {
    guard let contents = read.contents else { return }
    switch subscription.state.readEnded(read, hasMoved: hasMoved) {
    case .ignore: break
    case .askAgain: answerNext(subscription)
    case .answer(let request):
      do throws(FreshetError) {
        sendRows(try contents.get(), read.hold, answering: request, subscription)
      } catch { refuse(subscription, error) }
    }
  }

  private func refuse(_ subscription: Subscription, _ error: FreshetError) {
    checks.mendIfMissing(subscription.list, error)
    output.send(.error(error, isFatal: false), to: subscription)
    joinGroups(subscription)
    answerNext(subscription)
  }

  private func sendRows(
    _ rows: PackedRows, _ hold: ContentsBudget.Hold?, answering request: SubscriptionRequest,
    _ subscription: Subscription
  ) {
    guard let wanted = request.rows else { return }
    var answer = RowsMessage(
      version: subscription.group.state.sentVersion, columns: subscription.list.compiled.columns, window: nil,
      offset: wanted.range(total: subscription.group.state.held.tree.count).lowerBound, rows: rows, range: 0..<0)
    if case .window = request {
      subscription.group.state.window = wanted
      answer.window = wanted
    }
    subscription.state.begin(LoadingRows(message: answer, hold: hold))
    loading[subscription.key] = subscription
    sendNextPart([subscription])
  }
}

extension SubscriptionRequest {
  /// The window of rows that it requests.
  fileprivate var rows: Window? {
    switch self {
    case .window(let window), .fetch(let window): window
    case .locate, .requery, .resync: nil
    }
  }
}
