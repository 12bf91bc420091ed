import Foundation

@testable import Demo

/// A folder that lives as long as this object: a suite holds one, and so has one for each of its tests.
final class TemporaryFolder {
  private let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appendingPathComponent("freshet-demo-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  func path(_ name: String) -> String { url.appendingPathComponent(name).path }

  func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: url.path).sorted() }

  /// The path of a new demo database.
  func demo(_ name: String, rows: Int, seed: UInt64 = 1) throws -> String {
    try DemoDatabase.create(at: path(name), rows: rows, seed: seed)
    return path(name)
  }
}
