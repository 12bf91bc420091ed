import Foundation
import TestSupport

// In a file of its own, because `TestSupport` and the library both extend `JSONValue` with `required`.
enum GoldenVectors {
  static let folder = Fixtures.file("patches")
}
