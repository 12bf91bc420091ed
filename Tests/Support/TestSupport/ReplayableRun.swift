package import Foundation

/// A property test's run as a value: everything that happens in it, so that it can be repeated, made smaller and kept.
package protocol ReplayableRun: Codable, Sendable {
  /// The folder of `Tests/Fixtures/failures` that keeps runs of this kind.
  static var folder: String { get }
  var steps: [RunStep] { get set }
  /// Performs the run.
  ///
  /// - Returns: nil if the run has not failed.
  func failure() throws -> RunFailure?
  /// Runs of the same kind that are simpler in anything except their steps; empty if nothing can be simplified.
  func simpler() -> [Self]
  /// The run as readable text.
  var story: String { get }
}

package struct RunFailure: CustomStringConvertible, Sendable {
  /// The kind of failure, without any detail: a smaller run has to fail in the same way.
  package let kind: String
  /// The index of the step at which it was noticed.
  package let step: Int
  package let description: String

  package init(kind: String, step: Int, _ description: String) {
    self.kind = kind
    self.step = step
    self.description = description
  }
}

extension ReplayableRun {
  /// The result of `failure`; an error that it throws is a failure as well.
  private func outcome() -> RunFailure? {
    do { return try failure() } catch {
      return RunFailure(kind: "error", step: steps.count - 1, "\(error)")
    }
  }

  /// The run, reduced as far as it still fails in the same way: fewer steps, fewer statements, simpler in everything
  /// else.
  package func minimised(by shrinker: Shrinker) throws -> Self {
    guard let failure = outcome() else { return self }
    let fails = { (run: Self) in run.outcome()?.kind == failure.kind }
    var least = self
    least.steps = Array(steps.prefix(failure.step + 1))
    if !fails(least) { least = self }
    // Simplifications come first, because they make every further attempt cheaper.
    least = shrinker.simplify(least, { $0.simpler() }, fails: fails)
    least.steps = try shrinker.shrinkSteps(least.steps) { steps in
      var run = least
      run.steps = steps
      return fails(run)
    }
    return shrinker.simplify(least, { $0.simpler() }, fails: fails)
  }

  /// Performs the run. A failing run is made small and written to `Tests/Fixtures/failures`: with its fix it belongs
  /// into git.
  ///
  /// - Parameter name: how the whole run is repeated, and what the file is named after.
  /// - Returns: the text that the test reports; nil if the run has not failed.
  package func report(_ name: String, shrinker: Shrinker = .ofProcess) throws -> String? {
    guard let failure = outcome() else { return nil }
    guard shrinker.hasTime else { return "\(name)\n\(failure)\nnot made small: other runs took the time" }
    let least = try minimised(by: shrinker)
    let last = least.outcome()?.description ?? "does not always fail; the whole run: \(failure)"
    let file = Fixtures.failures(of: Self.folder).appending(
      path: name.filter { $0.isLetter || $0.isNumber || $0 == "-" } + ".json")
    try least.write(to: file)
    return "\(name)\n\(last)\n\(least.story)\nkept in \(file.path)"
  }

  package func write(to file: URL) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try (encoder.encode(self) + Data("\n".utf8)).write(to: file)
  }

  /// Runs that failed once, by the names of their files.
  package static func kept() -> [KeptRun<Self>] {
    let folder = Fixtures.failures(of: folder)
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return names.sorted().filter { $0.hasSuffix(".json") }.map { name in
      do {
        let run = try JSONDecoder().decode(Self.self, from: Data(contentsOf: folder.appending(path: name)))
        return KeptRun(name: name, run: run)
      } catch { fatalError("\(folder.path)/\(name): \(error)") }
    }
  }
}

package struct KeptRun<Run: ReplayableRun>: CustomStringConvertible, Sendable {
  package let name: String
  package let run: Run
  package var description: String { name }
}
