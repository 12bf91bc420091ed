import Foundation

/// Whether a condition holds within a time. Blocks.
package func comesTrue(within time: Duration = .seconds(20), _ condition: () throws -> Bool) rethrows -> Bool {
  let end = ContinuousClock.now + time
  while ContinuousClock.now < end {
    if try condition() { return true }
    usleep(5_000)
  }
  return try condition()
}

/// As above, but asynchronous, so that the caller's actor can work meanwhile.
package func eventually(
  isolation: isolated (any Actor)? = #isolation, _ condition: () -> Bool
) async -> Bool {
  let end = ContinuousClock.now + .seconds(20)
  while ContinuousClock.now < end {
    if condition() { return true }
    try? await Task.sleep(for: .milliseconds(5))
  }
  return condition()
}
