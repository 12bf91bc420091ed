import Ground
import Store
import TestSupport
import Testing

@testable import Requests

/// The table of waiting requests: every request leaves it once, in the order of its list's requests, and nothing of it
/// remains.
@Suite struct RequestsTests {
  private typealias Table = RequestTable

  /// A step of the table, with two lists, two sessions and two requests without a subscription.
  private enum Step: CaseIterable {
    case subscribe, subscribeOther, ask, askOther, askForever
    case answerFirst, answerNothing, answerSecond, contentsRead, changed
    case withdraw, withdrawRequest, closeSession, putBackFirst
  }

  private struct Model {
    struct Request: Equatable {
      let subject: Int
      let list: Int
      let client: Table.Client?
      let state: Table.State
    }

    var waiting: [Request] = []
    var taken: [Int] = []
    var lastSubject = 0
  }

  @Test func `In every small world each request waits in its place and leaves once`() {
    var worlds = 0
    explore(Table(), Model(), depth: TestDepth.count(4, long: 5), [], &worlds)
    #expect(worlds > 30_000)
  }

  private func explore(_ table: Table, _ model: Model, depth: Int, _ path: [Step], _ worlds: inout Int) {
    worlds += 1
    guard agree(table, model) else {
      Issue.record("the table is wrong after \(path)")
      return
    }
    if depth == 0 { return }
    for step in Step.allCases {
      var (nextTable, nextModel) = (table, model)
      apply(step, &nextTable, &nextModel)
      explore(nextTable, nextModel, depth: depth - 1, path + [step], &worlds)
    }
  }

  private static let first = SubscriptionKey(session: 1, id: "a", number: 1)
  private static let second = SubscriptionKey(session: 2, id: "b", number: 1)

  private func apply(_ step: Step, _ table: inout Table, _ model: inout Model) {
    switch step {
    case .subscribe: add(.subscription(Self.first), 1, .list(asked: 1), &table, &model)
    case .subscribeOther: add(.subscription(Self.second), 2, .list(asked: 2), &table, &model)
    case .ask: add(.request(7), 1, .change(deadline: .distantFuture), &table, &model)
    case .askOther: add(.request(8), 2, .contents(job: 3), &table, &model)
    case .askForever: add(nil, 1, .list(asked: 5), &table, &model)
    case .answerFirst: take(1, &table, &model) { $0.asked.map { $0 <= 1 } ?? false }
    case .answerSecond: take(2, &table, &model) { $0.asked != nil }
    case .answerNothing: take(1, &table, &model) { _ in false }
    case .contentsRead: take(2, &table, &model) { $0.isContents(of: 3) }
    case .changed: take(1, &table, &model) { $0.deadline != nil }
    case .withdraw: withdraw(.subscription(Self.first), &table, &model)
    case .withdrawRequest: withdraw(.request(7), &table, &model)
    case .closeSession:
      for key in table.subscriptions(of: 2) { withdraw(.subscription(key), &table, &model) }
    case .putBackFirst:
      guard let last = table.waiting(for: 1).last?.number else { return }
      for entry in table.take(for: 1, where: { $0.number != last }) { table.putBack(entry) }
    }
  }

  private func add(
    _ client: Table.Client?, _ list: Int, _ state: Table.State, _ table: inout Table, _ model: inout Model
  ) {
    model.lastSubject += 1
    if let client { model.waiting.removeAll { $0.client == client } }
    model.waiting.append(.init(subject: model.lastSubject, list: list, client: client, state: state))
    table.add(.numbered(model.lastSubject), of: client, for: list, state)
  }

  private func take(
    _ list: Int, _ table: inout Table, _ model: inout Model, _ isWanted: @escaping (Table.State) -> Bool
  ) {
    let taken = table.take(for: list) { isWanted($0.state) }.compactMap(\.number)
    #expect(taken == model.waiting.filter { $0.list == list && isWanted($0.state) }.map(\.subject))
    model.waiting.removeAll { $0.list == list && isWanted($0.state) }
    model.taken += taken
    #expect(Set(model.taken).count == model.taken.count)
  }

  private func withdraw(_ client: Table.Client, _ table: inout Table, _ model: inout Model) {
    let removed = table.remove(client)?.number
    #expect(removed == model.waiting.first { $0.client == client }?.subject)
    model.waiting.removeAll { $0.client == client }
  }

  private func agree(_ table: Table, _ model: Model) -> Bool {
    guard table.count == model.waiting.count, table.isEmpty == model.waiting.isEmpty else { return false }
    for list in 1...2 {
      let waiting = model.waiting.filter { $0.list == list }
      guard table.waiting(for: list).map(\.number) == waiting.map(\.subject),
        table.concerns(list) == !waiting.isEmpty
      else { return false }
    }
    for client in [Table.Client.subscription(Self.first), .subscription(Self.second), .request(7), .request(8)] {
      guard table.entry(of: client)?.number == model.waiting.first(where: { $0.client == client })?.subject else {
        return false
      }
    }
    for (session, key) in [(1 as UInt64, Self.first), (2, Self.second)] {
      let isWaiting = model.waiting.contains { $0.client == .subscription(key) }
      guard table.subscriptions(of: session) == (isWaiting ? [key] : []) else { return false }
    }
    return true
  }

  @Test func `A request changes in its place`() {
    var table = Table()
    table.add(.numbered(1), of: .request(1), for: 1, .list(asked: 0))
    table.add(.numbered(2), of: .request(2), for: 1, .list(asked: 0))
    table.update(.request(1)) { $0 = .numbered(10) }
    table.update(for: 1) { $0.state = .contents(job: 4) }
    #expect(table.take(for: 1, where: { $0.state.isContents(of: 4) }).map(\.number) == [10, 2])
    #expect(table.isEmpty && !table.concerns(1))
  }
}

extension WaitingRequest {
  fileprivate static func numbered(_ number: Int) -> Self {
    .next(SubscriptionKey(session: 9, id: "", number: UInt64(number)))
  }
}

extension RequestTable.Entry {
  fileprivate var number: Int? { if case .next(let key) = subject { Int(key.number) } else { nil } }
}
