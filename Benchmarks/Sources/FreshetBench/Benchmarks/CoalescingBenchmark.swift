import Foundation

/// Guards: frames that are due together leave in one write: 200 sockets with 50 subscriptions each, and one commit
/// changes all. Baseline: an epoll loop in C that writes as many frames of the same length, one write each.
enum CoalescingBenchmark: Benchmark {
  static let name = "coalescing"
  private static let sockets = 200
  private static let subscriptions = 50

  static func run(_ settings: Settings, _ report: Report) throws {
    let changes = settings.choose(full: 100, quick: 20)
    let file = try Items(rows: 5_000, owners: subscriptions)
    defer { file.remove() }
    var frameBytes = 0
    let samples = try settings.inTurns([
      {
        let (cpu, bytes) = try served(file, changes)
        frameBytes = bytes
        $0.add(cpu)
      },
      { $0.add(try bare(frameBytes, changes)) },
    ])
    report.compare("CPU per frame, one write for each", samples[1], against: samples[0], "µs", .atLeast(10))
  }

  private static func served(_ file: Items, _ changes: Int) throws -> (cpu: Double, bytes: Int) {
    let server = try Server(file.path)
    defer { server.stop() }
    let crowd = try Crowd(sockets, port: server.port)
    for socket in 0..<sockets {
      for owner in 0..<subscriptions {
        try crowd.send(socket, LiveSocket.subscription("\(owner)", Items.query(owner), window: nil))
      }
      try crowd.receive(upTo: crowd.messages + subscriptions)
    }
    let database = RawDatabase(file.path)
    // One row of each owner.
    let update = database.prepare("UPDATE item SET value = value + 1 WHERE id BETWEEN 1001 AND 1000 + \(subscriptions)")
    // As in fan-out the first one is not measured, here or there: clients have come just now, and nothing has its size
    // yet.
    update.run()
    try crowd.receive(upTo: crowd.messages + sockets * subscriptions)
    let bytes = crowd.bytes
    let cpu = try measure(crowd, server.child, changes) { update.run() }
    return (cpu, (crowd.bytes - bytes) / (changes * sockets * subscriptions))
  }

  private static func bare(_ bytes: Int, _ changes: Int) throws -> Double {
    let child = try Child(Programs.own("bare-fan-out"), ["\(bytes)", "\(subscriptions)"])
    defer { child.stop() }
    let crowd = try Crowd(sockets, port: Int(try child.hear()) ?? 0, isWebSocket: false)
    try child.tell("")
    try crowd.receive(upTo: sockets * subscriptions)
    return try measure(crowd, child, changes) { try child.tell("") }
  }

  private static func measure(
    _ crowd: Crowd, _ child: Child, _ changes: Int, _ change: () throws -> Void
  ) throws -> Double {
    usleep(200_000)
    let start = child.cpu
    for _ in 0..<changes {
      let wanted = crowd.messages + sockets * subscriptions
      try change()
      try crowd.receive(upTo: wanted)
    }
    usleep(50_000)
    return Double(child.cpu - start) / Double(changes * sockets * subscriptions) / 1e3
  }
}
