import ServerSupport
import TestSupport
import Testing

/// Lists over one file, and the steps of a run. It can be repeated any number of times.
struct ListRun: ReplayableRun, CustomTestStringConvertible {
  static let folder = "lists"

  enum Transport: String, Codable, Sendable {
    /// A follower without a thread: the steps say when it ticks, and when readers work.
    case stepped
    /// A server and a client over a socket. Only commits and comparisons mean something.
    case sockets
  }

  struct List: Codable, Sendable {
    /// Its name in `RunStep.open`.
    var id: Int
    var query: OracleQuery
  }

  var transport = Transport.stepped
  /// Pragmas and schema, which the shell runs before anything follows the file.
  var setUp: String
  /// The statements that the writer runs before lists are opened, one a line; `FOLDER` stands for the folder of the
  /// file.
  var preparation = ""
  /// Memory for what is remembered of all tables; nil: the default.
  var captureBytes: Int?
  /// Whether a list that does not change must get no message.
  var expectsSilence = false
  var lists: [List]
  var steps: [RunStep]

  init(
    _ transport: Transport, setUp: String, preparation: String = "", captureBytes: Int? = nil,
    expectsSilence: Bool = false,
    _ queries: [OracleQuery], steps: [RunStep]
  ) {
    self.transport = transport
    self.setUp = setUp
    self.preparation = preparation
    self.captureBytes = captureBytes
    self.expectsSilence = expectsSilence
    lists = queries.enumerated().map { List(id: $0, query: $1) }
    self.steps = steps
  }

  var testDescription: String { "\(setUp.prefix(200)), \(lists.map(\.query.json))" }

  var story: String {
    ([
      "\(transport.rawValue), \(captureBytes.map { "captureMemory \($0)" } ?? "all rows remembered")", setUp,
      preparation,
    ]
      + lists.map { "list \($0.id): \($0.query.json) \(String(describing: $0.query.window))" }
      + steps.map(\.description)).filter { !$0.isEmpty }.joined(separator: "\n")
  }

  func failure() throws -> RunFailure? {
    switch transport {
    case .stepped: try ListComparison(self, SteppedHolder(self)).failure()
    case .sockets: try ListComparison(self, SocketHolder(self)).failure()
    }
  }

  /// The first simplifications make each further attempt cheaper: no sockets, and one list instead of all.
  func simpler() -> [ListRun] {
    func with(_ change: (inout ListRun) -> Void) -> ListRun {
      var run = self
      change(&run)
      return run
    }
    var runs: [ListRun] = []
    if transport == .sockets { runs.append(with { $0.transport = .stepped }) }
    if lists.count > 1 {
      runs += lists.map { list in with { $0.lists = [list] } }
      runs += lists.indices.map { index in with { $0.lists.remove(at: index) } }
      return runs
    }
    for index in lists.indices {
      runs += lists[index].query.simpler.map { query in with { $0.lists[index].query = query } }
    }
    let lines = preparation.split(separator: "\n")
    if !lines.isEmpty, !preparation.contains("FOLDER") {
      let halves = [lines.prefix(lines.count / 2), lines.suffix(lines.count / 2)]
      let others = lines.count > 12 ? halves : halves + lines.indices.map { lines[..<$0] + lines[($0 + 1)...] }
      runs += ([[]] + others).map { lines in with { $0.preparation = lines.joined(separator: "\n") } }
    }
    if captureBytes != nil { runs.append(with { $0.captureBytes = nil }) }
    return runs
  }
}
