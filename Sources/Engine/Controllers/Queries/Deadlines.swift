import Store

/// When each query is to be looked at next, whatever it is for: a run that is due, a patch that `minInterval` holds back, contents
/// to be tried again, a waiting request that has waited long enough, the end of a query that nobody follows.
///
/// A binary heap with at most one entry a query; the query knows where. `wake` and `remove` are O(log n).
///
/// Owner: the follower's thread.
struct Deadlines {
  /// Where a query is in the heap.
  struct Place {
    fileprivate var index = -1
    fileprivate var due = Instant.distantFuture
  }

  private var heap: [FetchedResultsController] = []

  /// `distantFuture` when nothing is due ever.
  var next: Instant { heap.first?.deadline.due ?? .distantFuture }

  /// Looks at a query at a time, or sooner when it is to be looked at sooner.
  mutating func wake(_ query: FetchedResultsController, at due: Instant) {
    if due >= query.deadline.due { return }
    query.deadline.due = due
    if query.deadline.index < 0 {
      query.deadline.index = heap.count
      heap.append(query)
    }
    moveUp(query.deadline.index)
  }

  mutating func remove(_ query: FetchedResultsController) {
    let index = query.deadline.index
    if index < 0 { return }
    let last = heap.removeLast()
    if last !== query {
      put(last, at: index)
      moveUp(index)
      moveDown(last.deadline.index)
    }
    query.deadline = Place()
  }

  /// Takes out those whose time has come.
  mutating func takeDue(_ now: Instant) -> [FetchedResultsController] {
    var due: [FetchedResultsController] = []
    while let first = heap.first, first.deadline.due <= now {
      remove(first)
      due.append(first)
    }
    return due
  }

  private mutating func put(_ query: FetchedResultsController, at index: Int) {
    heap[index] = query
    query.deadline.index = index
  }

  private mutating func moveUp(_ start: Int) {
    var index = start
    let query = heap[index]
    while index > 0, case let parent = (index - 1) / 2, query.deadline.due < heap[parent].deadline.due {
      put(heap[parent], at: index)
      index = parent
    }
    put(query, at: index)
  }

  private mutating func moveDown(_ start: Int) {
    var index = start
    let query = heap[index]
    while case var child = 2 * index + 1, child < heap.count {
      if child + 1 < heap.count, heap[child + 1].deadline.due < heap[child].deadline.due { child += 1 }
      if query.deadline.due <= heap[child].deadline.due { break }
      put(heap[child], at: index)
      index = child
    }
    put(query, at: index)
  }
}
