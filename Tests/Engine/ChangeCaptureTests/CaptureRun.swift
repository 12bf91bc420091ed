import TestSupport

@testable import ChangeCapture

/// A capture over one file, through commits of another process; `readers` stands for another connection that reads a
/// state.
struct CaptureRun: ReplayableRun {
  static let folder = "capture"

  /// Pragmas and schema, which the shell runs before anything follows the file.
  var setUp: String
  /// The statements that the writer runs first.
  var preparation: String
  var steps: [RunStep]

  var story: String { ([setUp, preparation] + steps.map(\.description)).joined(separator: "\n") }

  func simpler() -> [CaptureRun] {
    preparation.isEmpty ? [] : [CaptureRun(setUp: setUp, preparation: "", steps: steps)]
  }

  func failure() throws -> RunFailure? { try perform { _ in } }

  /// - Parameter end: called with the fixture if the run has not failed.
  func perform(_ end: (CaptureFixture) -> Void) throws -> RunFailure? {
    let folder = try TemporaryFolder()
    let path = folder.path("t.sqlite")
    try SQLiteShell(path: path).run(setUp)
    let session = try SQLiteSession(path: path)
    try session.run(preparation)
    let fixture = try CaptureFixture(path: path)
    try fixture.followAll()
    for (index, step) in steps.enumerated() {
      switch step {
      case .commit(let sql): try session.run(sql)
      case .readers: try fixture.readBetweenTicks()
      case .tick, .step, .open, .compare, .other:
        let (wrong, tick) = try fixture.tick()
        if !wrong.isEmpty {
          return RunFailure(
            kind: "capture", step: index, "\(wrong), compared: \(String(describing: tick.comparison)), step \(index)")
        }
      }
    }
    end(fixture)
    return nil
  }
}
