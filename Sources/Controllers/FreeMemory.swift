import CSystem
import LiveQuery
import RankedCollections

extension Follower {
  /// Gives memory back to the system after a large result was made or let go.
  ///
  /// What a result is made in takes as much again as the result itself, and the allocator keeps it: its thresholds for
  /// returning memory grow with the largest block that was ever freed. SQLite keeps the pages at which a scan ended, which are
  /// those that nobody is about to ask for.
  func returnFreeMemory() {
    guard hasFreedMuch else { return }
    hasFreedMuch = false
    database?.connection.releasePages()
    system_return_free_memory()
  }
}

extension FollowedQuery {
  /// Whether making it, or letting it go, frees so much that it is worth returning.
  var isLarge: Bool { controller.newest.tree.count >= 20_000 }
}
