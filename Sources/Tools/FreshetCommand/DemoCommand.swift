import ArgumentParser
import Demo
import FileMaking
import Foundation
import Server

struct Demo: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Serve a list of 244,292 wells that another process keeps changing.",
    discussion: """
      The database is made at the first start and kept in ~/.cache/freshet (FRESHET_CACHE or XDG_CACHE_HOME change that). \
      It also has 600 failed banks with their closings. A second process writes to it, as any program could, and the page \
      can edit it too.
      """)

  @Option(help: "How many wells.")
  var rows = DemoDatabase.defaultRows

  @Option(help: "Transactions that the second process writes in a second; 0 for none.")
  var writesPerSecond = 5.0

  // Hidden: on this machine pages may write anyway, and beyond it this flag alone is not enough. The server's error
  // names the option that is.
  @Flag(help: .hidden)
  var allowWrites = false

  @OptionGroup var options: ServeOptions

  func validate() throws {
    guard (1...10_000_000).contains(rows) else { throw ValidationError("--rows must be 1 to 10000000.") }
    guard (0...10_000).contains(writesPerSecond) else {
      throw ValidationError("--writes-per-second must be 0 to 10000.")
    }
  }

  func run() throws {
    let path = DemoDatabase.cachePath(rows: rows)
    try prepare(path)
    var address = ServerConfiguration(database: path)
    address.listening.host = options.host
    var writer: WriterProcess?
    defer { writer?.stop() }
    try options.serve(.one(path), allowsWrites: allowWrites || address.listening.isLoopback) { server in
      writer = try WriterProcess(path: path, writesPerSecond: writesPerSecond, target: rows)
      print("Open \(server.scheme)://\(Demo.reachable(options.host)):\(server.port)/ (Ctrl-C ends it)")
      // Output to a pipe is buffered: without flushing, a program that waits for the line would wait forever.
      fflush(nil)
    }
  }

  /// Makes the database unless it is there.
  private func prepare(_ path: String) throws {
    if FileManager.default.fileExists(atPath: path) {
      if DemoDatabase.isCurrent(at: path) { return }
      // The cached file may be another version's, or damaged. It is the demo's own file, so it is replaced.
      for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    }
    // From here on Ctrl-C is checked for and does not end the process at once, so that no unfinished file stays.
    let signals = TerminationSignals()
    var bar = ProgressBar("Making \(rows) wells", total: rows)
    do {
      try DemoDatabase.create(at: path, rows: rows) { done in
        bar.update(done)
        if signals.isPending { throw CommandFailure("interrupted; nothing was made") }
      }
    } catch let error as FileMakingError where error.code == .exists {
      // Another demo that was started at the same time has made the file.
    } catch let error as FileMakingError {
      throw CommandFailure(error.message)
    }
  }

  /// The host to type into a browser on this machine.
  private static func reachable(_ host: String) -> String {
    if host == "0.0.0.0" || host == "::" { return "localhost" }
    return host.contains(":") ? "[\(host)]" : host
  }
}

/// The command of the demo's second process. Users do not call it.
struct DemoWriterCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "demo-writer", abstract: "Change the demo's wells and banks until standard input ends.",
    shouldDisplay: false)

  @Argument var database: String
  @Option var writesPerSecond = 5.0
  @Option var target: Int?
  @Option var seed: UInt64 = DemoDatabase.defaultSeed

  func run() throws {
    try DemoWriter.run(path: database, writesPerSecond: writesPerSecond, seed: seed, target: target)
  }
}
