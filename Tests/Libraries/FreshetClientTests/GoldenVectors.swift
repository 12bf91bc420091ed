import Foundation
import TestSupport

// Not in the file of the tests: `TestSupport` and the library both extend `JSONValue` with `required`.
enum GoldenVectors {
  static let folder = Fixtures.file("patches")
}
