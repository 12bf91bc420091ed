import Foundation

/// Guards: sending one change to many subscribers of one query costs hardly more than the writes. Baseline: an epoll
/// loop in C that sends as many bytes to as many sockets.
enum FanOutBenchmark: Benchmark {
  static let name = "fan-out"

  static func run(_ settings: Settings, _ report: Report) throws {
    let goals = [1_000: Goal.atMost(1.25), 10_000: .atMost(1.4)]
    for subscribers in settings.choose(full: [100, 1_000, 10_000], quick: [100, 1_000]) {
      let fan = FanOut(subscribers: subscribers, changes: max(5, 50_000 / subscribers))
      let samples = try settings.inTurns([
        { $0.add(try fan.served()) },
        { $0.add(try fan.bare()) },
      ])
      report.compare(
        "CPU per frame, \(subscribers.grouped) subscribers", samples[0], against: samples[1], "µs", goals[subscribers])
    }
    // Where each service thread has a processor, the busiest one decides how many frames a second there are.
    let fan = FanOut(subscribers: 2_000, changes: 50)
    let samples = try settings.inTurns([
      { $0.add(try fan.servedByBusiest(of: 2)) },
      { $0.add(try fan.servedByBusiest(of: 1)) },
    ])
    report.compare(
      "CPU of the busiest of two service threads per frame, against one, 2,000 subscribers", samples[0],
      against: samples[1], "µs", .atMost(1 / 1.8))
  }
}

/// One change after the other, each to everybody; what is measured is processor time of the sending process.
private final class FanOut {
  private let subscribers: Int
  private let changes: Int
  /// The size of a frame as the server sends it.
  private var frameBytes = 0

  init(subscribers: Int, changes: Int) {
    self.subscribers = subscribers
    self.changes = changes
  }

  func served() throws -> Double { try serve([]) { crowd, child, change in try measure(crowd, child, change) } }

  /// The share of the busiest service thread: with two, their connections are not quite as many.
  func servedByBusiest(of threads: Int) throws -> Double {
    try serve(["--service-threads", "\(threads)"]) { crowd, child, change in
      let before = child.cpuByThread
      for _ in 0..<changes { try round(crowd, change) }
      usleep(50_000)
      let busiest = child.cpuByThread.map { $0.value - (before[$0.key] ?? 0) }.max() ?? 0
      return Double(busiest) / Double(changes * subscribers) / 1e3
    }
  }

  private func serve(_ options: [String], _ measure: (Crowd, Child, () throws -> Void) throws -> Double) throws
    -> Double
  {
    let wells = try Wells(rows: 1_000)
    defer { wells.remove() }
    let server = try Server(wells.path, options: options)
    defer { server.stop() }
    let crowd = try Crowd(subscribers, port: server.port)
    for member in 0..<subscribers { try crowd.send(member, LiveSocket.subscription("a", Wells.query)) }
    try crowd.receive(upTo: crowd.messages + subscribers)
    let database = RawDatabase(wells.path)
    // In the window of everybody.
    let update = database.prepare(
      "UPDATE well SET depth = depth + 1 WHERE id = (SELECT id FROM well \(Wells.order) LIMIT 1)")
    update.run()
    try crowd.receive(upTo: crowd.messages + subscribers)
    let bytes = crowd.bytes
    let cpu = try measure(crowd, server.child) { update.run() }
    frameBytes = (crowd.bytes - bytes) / (changes * subscribers)
    return cpu
  }

  func bare() throws -> Double {
    let child = try Child(Programs.own("bare-fan-out"), ["\(frameBytes)", "1"])
    defer { child.stop() }
    let crowd = try Crowd(subscribers, port: Int(try child.hear()) ?? 0, isWebSocket: false)
    try child.tell("")
    try crowd.receive(upTo: subscribers)
    return try measure(crowd, child) { try child.tell("") }
  }

  /// One change, to everybody.
  private func round(_ crowd: Crowd, _ change: () throws -> Void) throws {
    let wanted = crowd.messages + subscribers
    try change()
    try crowd.receive(upTo: wanted)
  }

  /// - Returns: microseconds for a frame.
  private func measure(_ crowd: Crowd, _ child: Child, _ change: () throws -> Void) throws -> Double {
    usleep(200_000)
    let start = child.cpu
    for _ in 0..<changes { try round(crowd, change) }
    usleep(50_000)
    return Double(child.cpu - start) / Double(changes * subscribers) / 1e3
  }
}
