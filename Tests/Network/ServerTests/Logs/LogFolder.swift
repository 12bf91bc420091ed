import Foundation
import TestSupport
import Testing
import Wire

@testable import Server

/// A folder with logs, and the contents of their lines.
final class LogFolder {
  let path: String
  private let isMounted: Bool

  /// - Parameter bytes: the size of a disk of its own for the folder, which needs root; nil: none.
  init(diskOf bytes: Int? = nil) throws {
    path = FileManager.default.temporaryDirectory.appending(path: "freshet-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    if let bytes {
      let process = try Process.run(
        URL(fileURLWithPath: "/bin/mount"), arguments: ["-t", "tmpfs", "-o", "size=\(bytes)", "tmpfs", path])
      process.waitUntilExit()
      isMounted = process.terminationStatus == 0
      guard isMounted else { throw RawSocket.Failure(description: "cannot mount a disk") }
    } else {
      isMounted = false
    }
  }

  deinit {
    if isMounted { umount(path) }
    try? FileManager.default.removeItem(atPath: path)
  }

  func file(_ name: String) -> String { path + "/" + name }
  func log(_ name: String) -> LogDestination { .file(file(name)) }

  func text(_ name: String = "log") throws -> String { try String(contentsOfFile: file(name), encoding: .utf8) }

  /// Each line as JSON.
  func lines(_ name: String = "log") throws -> [JSONValue] {
    let text = try text(name)
    guard text.isEmpty || text.hasSuffix("\n") else { throw RawSocket.Failure(description: "no whole line: \(text)") }
    return try text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map {
      try JSONParser.parse(String($0))
    }
  }

  /// The lines, as soon as there is one that matches.
  func lines(_ name: String = "log", until isThere: (JSONValue) -> Bool) throws -> [JSONValue] {
    var found: [JSONValue] = []
    let hasCome = try comesTrue {
      guard let text = try? text(name), text.hasSuffix("\n") else { return false }
      found = try lines(name)
      return found.contains(where: isThere)
    }
    try #require(hasCome, "the line did not come: \((try? text(name)) ?? "no file")")
    return found
  }

  /// Takes all free room.
  func fill() throws {
    let descriptor = open(file("filler"), O_WRONLY | O_CREAT | O_APPEND, 0o600)
    defer { close(descriptor) }
    for size in [4_096, 1] {
      let block = [UInt8](repeating: 0, count: size)
      while write(descriptor, block, size) > 0 {}
    }
  }

  func makeRoom() throws { try FileManager.default.removeItem(atPath: file("filler")) }
}

extension JSONValue {
  /// The members of a line except its time, sorted and abbreviated.
  func line(without names: Set<String> = ["ms", "session", "bytes"]) -> String {
    guard case .object(var members) = self else { return json }
    members["time"] = nil
    for name in names { members[name] = nil }
    return members.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value.plain)" }.joined(separator: " ")
  }

  private var plain: String { if case .string(let text) = self { text } else { json } }

  func text(_ name: String) -> String? { if case .string(let text)? = self[name] { text } else { nil } }
  func number(_ name: String) -> Double? {
    switch self[name] {
    case .integer(let value)?: Double(value)
    case .real(let value)?: value
    default: nil
    }
  }
}
