import Foundation
import Gateway
import LiveQuery

/// The JavaScript client, `<live-list>` and `<live-chart>`, as every server serves them: at their own path, whatever
/// else the server serves, and also to pages of allowed origins.
struct ClientFiles: Sendable {
  private struct File: Sendable {
    let type: String
    let bytes: [UInt8]
    let tag: String
  }

  private var files: [String: File] = [:]

  private static let names = [
    "freshet.min.js", "freshet.min.js.map", "freshet.min.d.ts", "freshet.d.ts", "live-list.min.js",
    "live-list.min.js.map",
    "element.d.ts", "live-chart.min.js", "live-chart.min.js.map", "chart.d.ts",
  ]

  /// - Parameter directory: the files that come with the program; nil: none.
  init(in directory: String?) {
    guard let directory else { return }
    for name in Self.names {
      guard let data = FileManager.default.contents(atPath: "\(directory)/\(name)") else { continue }
      let type =
        name.hasSuffix(".js")
        ? "text/javascript; charset=utf-8" : name.hasSuffix(".map") ? "application/json" : "text/plain; charset=utf-8"
      let bytes = [UInt8](data)
      files[name] = File(type: type, bytes: bytes, tag: "\(Fingerprint(of: bytes))")
    }
  }

  /// - Parameter known: the tags that the client has already.
  func answer(to name: String, _ known: EntityTags) -> HTTPAnswer {
    guard let file = files[name] else {
      let there = files.keys.sorted().joined(separator: ", ")
      return .problem(.notFound, there.isEmpty ? "this server has no client files" : "the client's files are \(there)")
    }
    let headers = [("ETag", "\"\(file.tag)\""), ("Cache-Control", "no-cache"), ("X-Content-Type-Options", "nosniff")]
    if known.contains(file.tag) { return HTTPAnswer(status: 304, headers: headers, body: []) }
    return HTTPAnswer(status: 200, headers: [("Content-Type", file.type)] + headers, body: file.bytes)
  }
}
