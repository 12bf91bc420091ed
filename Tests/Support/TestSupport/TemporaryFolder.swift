import Foundation

/// A folder that lives as long as this object: a suite holds one, and so has one for each of its tests.
package final class TemporaryFolder {
  private let url: URL

  package init() throws {
    url = FileManager.default.temporaryDirectory.appendingPathComponent("freshet-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  package func path(_ name: String) -> String { url.appendingPathComponent(name).path }

  package func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: url.path).sorted() }
}
