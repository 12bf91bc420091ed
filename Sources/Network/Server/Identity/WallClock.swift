import Foundation

/// The date, for what tokens say about it. Tests have clocks of their own.
package struct WallClock: Sendable {
  private let read: @Sendable () -> Int64

  /// - Parameter read: seconds since 1970; any thread.
  package init(_ read: @escaping @Sendable () -> Int64) { self.read = read }

  package static let system = WallClock { Int64(Date().timeIntervalSince1970) }

  /// Seconds since 1970.
  var now: Int64 { read() }
}
