import CFreshetSystem
import LiveQuery
import RankedCollections

extension ReaderPool {
  /// Has a reader give free memory back to the system, which takes milliseconds.
  func returnFreeMemory() {
    post(
      ReaderJob(id: newID(), requester: .server) { _, _ in
        system_return_free_memory()
      } failed: { _ in
        system_return_free_memory()
      })
  }
}

extension Follower {
  /// Gives memory back to the system after a large result was made or let go, or many small ones were let go.
  ///
  /// What a result is made in takes as much again as the result itself, and the allocator keeps it: its thresholds for
  /// returning memory grow with the largest block that was ever freed. SQLite keeps the pages at which a scan ended, which are
  /// those that nobody is about to ask for.
  func returnFreeMemory() {
    guard freedRows >= FetchedResultsController.largeFrom else { return }
    freedRows = 0
    database?.connection.releasePages()
    readers.returnFreeMemory()
  }
}

extension FetchedResultsController {
  /// Whether making it, or letting it go, frees so much that it is worth returning.
  var isLarge: Bool { rowCount >= Self.largeFrom }
  var rowCount: Int { result.newest.tree.count }
  static let largeFrom = 20_000
}
