import Foundation

/// A temporary folder, below one that this process has.
struct Folder {
  private static let root = FileManager.default.temporaryDirectory.appending(
    path: "freshet-bench-\(ProcessInfo.processInfo.processIdentifier)")

  private let url: URL

  init() throws {
    url = Self.root.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  func path(_ name: String) -> String { url.appending(path: name).path }

  func remove() { try? FileManager.default.removeItem(at: url) }

  static func removeAll() { try? FileManager.default.removeItem(at: root) }
}
