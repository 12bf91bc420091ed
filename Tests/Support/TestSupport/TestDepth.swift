import Foundation

/// How much random tests do: `make test` takes minutes, `make test-long` (`FRESHET_LONG=1`) hours.
package enum TestDepth {
  package static let isLong = ProcessInfo.processInfo.environment["FRESHET_LONG"] == "1"

  package static func count(_ short: Int, long: Int) -> Int { isLong ? long : short }
}
