package import Foundation

/// Files of `Tests/Fixtures`, and of the repository that the tests were built from.
package enum Fixtures {
  package static let repository = URL(filePath: #filePath).appending(path: "../../../..").standardizedFileURL

  /// The folder of minimised runs of one kind.
  package static func failures(of kind: String) -> URL { file("failures/\(kind)") }

  package static func file(_ name: String) -> URL { repository.appending(path: "Tests/Fixtures/\(name)") }
}
