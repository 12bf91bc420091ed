/// Items that are ready, first in, first out.
struct ReadyItems {
  private var items: [WorkItem] = []
  private var first = 0

  var isEmpty: Bool { first == items.count }

  mutating func append(_ item: WorkItem) { items.append(item) }

  mutating func popFirst() -> WorkItem? {
    if isEmpty { return nil }
    let item = items[first]
    first += 1
    if first == items.count {
      items.removeAll(keepingCapacity: true)
      first = 0
    } else if first >= 64, first * 2 > items.count {
      items.removeFirst(first)
      first = 0
    }
    return item
  }
}

/// Items with deadlines: a binary heap, in which each item stores its index. `insert` and `remove` are O(log n).
struct WorkDeadlines {
  private var heap: [WorkItem] = []

  /// The earliest deadline; `distantFuture` if there are no deadlines.
  var next: Instant { heap.first?.due ?? .distantFuture }

  /// Precondition: the item is not in the heap, and its `due` is set.
  mutating func insert(_ item: WorkItem) {
    heap.append(item)
    item.heapIndex = heap.count - 1
    moveUp(item.heapIndex)
  }

  mutating func remove(_ item: WorkItem) {
    let index = item.heapIndex
    if index < 0 { return }
    item.heapIndex = -1
    let last = heap.removeLast()
    if last === item { return }
    put(last, at: index)
    moveUp(index)
    moveDown(last.heapIndex)
  }

  mutating func popFirst(before now: Instant) -> WorkItem? {
    guard let first = heap.first, first.due <= now else { return nil }
    remove(first)
    return first
  }

  private mutating func put(_ item: WorkItem, at index: Int) {
    heap[index] = item
    item.heapIndex = index
  }

  private mutating func moveUp(_ start: Int) {
    var index = start
    let item = heap[index]
    while index > 0, case let parent = (index - 1) / 2, item.due < heap[parent].due {
      put(heap[parent], at: index)
      index = parent
    }
    put(item, at: index)
  }

  private mutating func moveDown(_ start: Int) {
    var index = start
    let item = heap[index]
    while case var child = 2 * index + 1, child < heap.count {
      if child + 1 < heap.count, heap[child + 1].due < heap[child].due { child += 1 }
      if item.due <= heap[child].due { break }
      put(heap[child], at: index)
      index = child
    }
    put(item, at: index)
  }
}
