/// A place in a tree while it is walked in order, one element at a time or whole shared nodes at a time.
///
/// It keeps the root alive, and with it every node below: they are not counted one by one, which would be most of what
/// a walk costs. The tree must not be changed meanwhile in the place where the cursor got it from.
struct TreeCursor<Payload: RankedPayload> {
  /// A node on the path, the slot taken in it, and how many elements come before the node.
  private typealias Step = (node: Unmanaged<Node<Payload>>, slot: Int, start: Int)

  private let root: Node<Payload>?
  /// From the root down to the node above the current leaf.
  private var path: [Step] = []
  private var current: Unmanaged<Node<Payload>>?
  /// The position of the current element in its leaf.
  private(set) var slot = 0
  /// Elements before the current one.
  private(set) var rank = 0
  /// The greatest height whose node on the path starts with the current element; -1 when not at a leaf's start.
  private(set) var startHeight = -1

  init(_ tree: RankedTree<Payload>) { self.init(tree.root, rank: 0) }

  /// Walks the elements below a node.
  ///
  /// - Parameter rank: of the first of them.
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

  /// Goes on by one element, or by some of the leaf's.
  mutating func advance(by count: Int = 1) {
    rank += count
    slot += count
    startHeight = -1
    if slot == withLeaf({ $0.payloads.count }) { advance(past: path.count - 1) }
  }

  /// Goes to the first element after the node of `height` and the `count - 1` nodes after it. The first must start with
  /// the current element.
  mutating func skip(height: Int, count: Int) {
    let parent = path.count - 1 - height
    guard parent >= 0 else {
      rank += root?.count ?? 0
      return advance(past: -1)
    }
    let (node, slot, start) = path[parent]
    rank = node._withUnsafeGuaranteedRef { node in
      // Where nothing of the parent is left, its own count does: the children need not be touched.
      if slot + count == node.children.count { return start + node.count }
      return node.children[slot..<slot + count].reduce(rank) { $0 + $1.count }
    }
    path[parent].slot += count - 1
    advance(past: parent)
  }

  /// Goes to the first element after the child that is taken at step `index` of the path.
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

  /// How many nodes from that of `height` on both trees share side by side, below one parent each.
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
