/// A position in a tree, for walks in order that advance by one element or past whole shared nodes.
///
/// It retains only the root, which keeps every node below alive, because counting references to each node would take
/// most of the time of a walk. The variable that the tree was read from must not be changed during the walk.
struct TreeCursor<Payload: RankedPayload> {
  /// A node on the path, the slot taken in it, and the number of elements before the node.
  private typealias Step = (node: Unmanaged<Node<Payload>>, slot: Int, start: Int)

  private let root: Node<Payload>?
  /// The steps from the root to the node above the current leaf.
  private var path: [Step] = []
  private var current: Unmanaged<Node<Payload>>?
  /// The position of the current element in its leaf.
  private(set) var slot = 0
  /// The number of elements before the current one.
  private(set) var rank = 0
  /// The height of the highest node on the path whose first element is the current one; -1 if the current one is not
  /// the first of its leaf.
  private(set) var startHeight = -1

  init(_ tree: RankedTree<Payload>) { self.init(tree.root, rank: 0) }

  /// Walks the elements below a node.
  ///
  /// - Parameter rank: the rank of the first of these elements.
  init(_ node: Node<Payload>?, rank: Int) {
    root = node
    self.rank = rank
    guard let node else { return }
    path.reserveCapacity(node.height)
    startHeight = node.height
    descend(into: Unmanaged.passUnretained(node))
  }

  var isAtEnd: Bool { current == nil }

  /// The current leaf.
  var leaf: Node<Payload> { current!.takeUnretainedValue() }

  @inline(__always)
  func withLeaf<Result>(_ body: (Node<Payload>) -> Result) -> Result { current!._withUnsafeGuaranteedRef(body) }

  /// The node of this height that the path goes through.
  @inline(__always)
  func node(atHeight height: Int) -> Unmanaged<Node<Payload>> {
    height == 0 ? current! : path[path.count - height].node
  }

  private mutating func descend(into node: Unmanaged<Node<Payload>>) {
    var node = node
    while true {
      let child = node._withUnsafeGuaranteedRef { $0.isLeaf ? nil : Unmanaged.passUnretained($0.children[0]) }
      guard let child else { break }
      path.append((node, 0, rank))
      node = child
    }
    current = node
    slot = 0
  }

  /// Advances by one element, or by several within the leaf.
  mutating func advance(by count: Int = 1) {
    rank += count
    slot += count
    startHeight = -1
    if slot == withLeaf({ $0.payloads.count }) { advance(past: path.count - 1) }
  }

  /// Advances to the first element after the node of `height` and the `count - 1` nodes after it. The current element
  /// must be the first of that node.
  mutating func skip(height: Int, count: Int) {
    let parent = path.count - 1 - height
    guard parent >= 0 else {
      rank += root?.count ?? 0
      return advance(past: -1)
    }
    let (node, slot, start) = path[parent]
    rank = node._withUnsafeGuaranteedRef { node in
      // At the parent's end its own count is used, so that the children need not be read.
      if slot + count == node.children.count { return start + node.count }
      return node.children[slot..<slot + count].reduce(rank) { $0 + $1.count }
    }
    path[parent].slot += count - 1
    advance(past: parent)
  }

  /// Advances to the first element after the child that the path takes at step `index`.
  private mutating func advance(past index: Int) {
    var index = index
    while index >= 0 {
      let (node, slot, _) = path[index]
      let next = node._withUnsafeGuaranteedRef { node in
        slot + 1 < node.children.count ? Unmanaged.passUnretained(node.children[slot + 1]) : nil
      }
      if let next {
        path[index].slot += 1
        path.removeLast(path.count - 1 - index)
        startHeight = next._withUnsafeGuaranteedRef { $0.height }
        return descend(into: next)
      }
      index -= 1
    }
    path.removeAll(keepingCapacity: true)
    current = nil
  }

  /// The number of consecutive nodes that both trees share from the current node of `height` on, within one parent
  /// each.
  func sharedRun(height: Int, _ other: TreeCursor) -> Int {
    let (parent, otherParent) = (path.count - 1 - height, other.path.count - 1 - height)
    guard parent >= 0, otherParent >= 0 else { return 1 }
    let (node, slot, _) = path[parent]
    let (otherNode, otherSlot, _) = other.path[otherParent]
    return node._withUnsafeGuaranteedRef { node in
      otherNode._withUnsafeGuaranteedRef { otherNode in
        node.children.withUnsafeBufferPointer { children in
          otherNode.children.withUnsafeBufferPointer { others in
            let most = min(children.count - slot, others.count - otherSlot)
            var run = 1
            while run < most, children[slot + run] === others[otherSlot + run] { run += 1 }
            return run
          }
        }
      }
    }
  }

  var reference: ElementReference<Payload> { ElementReference(leaf: leaf, slot: slot, rank: rank) }
}
