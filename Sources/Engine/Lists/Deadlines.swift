package import Ground
import Store

/// When each list needs attention next: for a run, a patch that `minInterval` holds back, a retry of a read, the
/// deadline of a waiting request, or the end of its linger.
///
/// A binary heap with at most one entry per list, which records its index. `wake` and `remove` are O(log n).
///
/// Owner: the follower's thread.
package struct Deadlines {
  /// A list's index in the heap.
  struct Place {
    fileprivate var index = -1
    fileprivate var due = Instant.distantFuture
  }

  private var heap: [LiveList] = []

  /// `distantFuture` if no list has a deadline.
  package var next: Instant { heap.first?.deadline.due ?? .distantFuture }

  /// Moves a list's deadline forward to `due`, unless it is earlier already.
  package mutating func wake(_ list: LiveList, at due: Instant) {
    if due >= list.deadline.due { return }
    list.deadline.due = due
    if list.deadline.index < 0 {
      list.deadline.index = heap.count
      heap.append(list)
    }
    moveUp(list.deadline.index)
  }

  mutating func remove(_ list: LiveList) {
    let index = list.deadline.index
    if index < 0 { return }
    let last = heap.removeLast()
    if last !== list {
      put(last, at: index)
      moveUp(index)
      moveDown(last.deadline.index)
    }
    list.deadline = Place()
  }

  /// Removes the lists whose deadline has passed.
  mutating func takeDue(_ now: Instant) -> [LiveList] {
    var due: [LiveList] = []
    while let first = heap.first, first.deadline.due <= now {
      remove(first)
      due.append(first)
    }
    return due
  }

  private mutating func put(_ list: LiveList, at index: Int) {
    heap[index] = list
    list.deadline.index = index
  }

  private mutating func moveUp(_ start: Int) {
    var index = start
    let list = heap[index]
    while index > 0, case let parent = (index - 1) / 2, list.deadline.due < heap[parent].deadline.due {
      put(heap[parent], at: index)
      index = parent
    }
    put(list, at: index)
  }

  private mutating func moveDown(_ start: Int) {
    var index = start
    let list = heap[index]
    while case var child = 2 * index + 1, child < heap.count {
      if child + 1 < heap.count, heap[child + 1].deadline.due < heap[child].deadline.due { child += 1 }
      if list.deadline.due <= heap[child].deadline.due { break }
      put(heap[child], at: index)
      index = child
    }
    put(list, at: index)
  }
}
