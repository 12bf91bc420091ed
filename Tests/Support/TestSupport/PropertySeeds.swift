import Foundation

/// The seeds that property tests run with.
package enum PropertySeeds {
  /// `FRESHET_SEED`, the only seed to run.
  package static let repeated = number("FRESHET_SEED")
  /// `FRESHET_SEEDS`, how many fresh seeds to run instead of the kept ones.
  package static let count = number("FRESHET_SEEDS")

  private static func number(_ name: String) -> UInt64? {
    ProcessInfo.processInfo.environment[name].flatMap(UInt64.init)
  }

  /// Seeds that failed once, which a file of `Tests/Fixtures` lists, and a random one; or the one to repeat.
  package static func kept(_ file: String) -> [UInt64] {
    if let repeated { return [repeated] }
    guard let kept = try? JSONDecoder().decode([UInt64].self, from: Data(contentsOf: Fixtures.file(file))) else {
      fatalError("Tests/Fixtures/\(file) is no list of seeds")
    }
    return kept + (TestDepth.isLong ? [1] : []) + [.random(in: 0 ... .max)]
  }

  /// As many fresh seeds as `FRESHET_SEEDS` says, or those of a file.
  package static func freshOrKept(_ file: String) -> [UInt64] {
    guard let count, count > 0 else { return kept(file) }
    return (0..<count).map { _ in .random(in: 0 ... .max) }
  }
}
