import Ground

/// The value that a tree keeps with each key.
protocol RankedPayload {
  /// The number of positions that the element takes up: 1 for a row, the number of its rows for a section.
  var weight: Int { get }
  /// Whether two elements with equal keys look the same to a reader. Must be O(1) if the elements share most of their
  /// nodes.
  func isSame(as other: Self) -> Bool
  /// The most elements in a leaf.
  static var leafLimit: Int { get }
}

/// Receives the leaves that are added, copied and removed, so that an index from elements to leaves can be kept up to
/// date.
protocol LeafObserver {
  associatedtype Payload: RankedPayload
  /// The leaf is new, and gets a `leafID` of its own.
  ///
  /// - Parameter other: the leaf that it was a part of; nil if it is the first leaf of its tree.
  mutating func leafWasAdded(_ leaf: Node<Payload>, splitFrom other: Node<Payload>?)
  /// An element was put into `leaf`, which may be split next.
  mutating func elementWasInserted(into leaf: Node<Payload>)
  /// A leaf's object was replaced by a copy with the same `leafID`.
  mutating func leafWasReplaced(by leaf: Node<Payload>)
  /// Elements `range` of `leaf` were in the leaf with the id `old` before.
  mutating func elements(_ range: Range<Int>, of leaf: Node<Payload>, cameFrom old: UInt32)
  /// The leaf was removed from the tree.
  mutating func leafWasRemoved(_ leafID: UInt32)
}

/// An observer that does nothing, for trees without an index.
struct IgnoreLeaves<Payload: RankedPayload>: LeafObserver {
  func leafWasAdded(_ leaf: Node<Payload>, splitFrom other: Node<Payload>?) {}
  func elementWasInserted(into leaf: Node<Payload>) {}
  func leafWasReplaced(by leaf: Node<Payload>) {}
  func elements(_ range: Range<Int>, of leaf: Node<Payload>, cameFrom old: UInt32) {}
  func leafWasRemoved(_ leafID: UInt32) {}
}

/// The most slots of each kind of node. Tiny in debug builds, so that every test splits and joins nodes.
enum NodeLimits {
  #if DEBUG
    static let row = 4
    static let section = 4
    static let inner = 4
    static let leafBytes = 256
  #else
    /// The most rows in a leaf. Smaller leaves take more memory a row; larger leaves take longer to copy for a change.
    static let row = 64
    /// The most sections in a leaf. Few, because copying a section counts two references.
    static let section = 8
    static let inner = 16
    static let leafBytes = 8192
  #endif
}

/// One node of a ranked B+tree, leaf or inner.
///
/// Nodes are shared between versions. A node is changed in place only while a single reference to it exists
/// (`isKnownUniquelyReferenced`), that is, while no visible version contains it; otherwise the path
/// to it is copied.
///
/// Invariants (`checkInvariants`): all leaves at height 0 and equally deep; no node is empty; no node is over its
/// limit; keys ascend strictly; an inner node's key `i` is greater than everything in child `i - 1` and not greater
/// than anything in child `i` (key 0 is never read: elements below all bounds belong into child 0); `count` and
/// `weight` are the sums of the elements below. Swift does not check accesses to the properties for overlaps at run
/// time, which took a tenth of a change's instructions. No function here calls a function that changes the same node.
final class Node<Payload: RankedPayload> {
  let height: Int
  /// Leaf: the elements' keys. Inner: the children's lower bounds.
  @exclusivity(unchecked) var keys: PackedKeys
  /// Leaf only: the payload of each key.
  @exclusivity(unchecked) var payloads: [Payload]
  /// The children of an inner node; empty in a leaf.
  @exclusivity(unchecked) var children: [Node]
  /// The number of elements below.
  @exclusivity(unchecked) var count: Int
  /// The sum of the weights of the elements below.
  @exclusivity(unchecked) var weight: Int
  /// Leaf only: stays the same while the leaf is copied; see `LeafObserver`.
  @exclusivity(unchecked) var leafID: UInt32 = 0

  /// Creates a leaf. O(payloads).
  init(keys: PackedKeys, payloads: [Payload]) {
    height = 0
    self.keys = keys
    self.payloads = payloads
    children = []
    count = payloads.count
    weight = payloads.reduce(0) { $0 + $1.weight }
  }

  /// Creates an inner node. O(children).
  init(keys: PackedKeys, children: [Node]) {
    height = children[0].height + 1
    self.keys = keys
    payloads = []
    self.children = children
    count = children.reduce(0) { $0 + $1.count }
    weight = children.reduce(0) { $0 + $1.weight }
  }

  private init(copying other: Node) {
    height = other.height
    keys = other.keys
    payloads = other.isLeaf ? other.payloads : []
    children = other.isLeaf ? [] : other.children
    count = other.count
    weight = other.weight
    leafID = other.leafID
  }

  func copy() -> Node { Node(copying: self) }

  @inline(__always)
  var isLeaf: Bool { height == 0 }

  /// The number of elements of a leaf, or of children of an inner node.
  @inline(__always)
  var slots: Int { isLeaf ? payloads.count : children.count }

  /// The index of the child that `key` belongs to.
  @inline(__always)
  func childIndex(for key: Bytes) -> Int { max(0, keys.upperBound(key) - 1) }

  /// The slot of `key` in this leaf, if the leaf has it.
  func slot(of key: Bytes) -> Int? {
    let slot = keys.lowerBound(key)
    guard slot < keys.count, keys.withKey(slot, { $0.equals(key) }) else { return nil }
    return slot
  }
}
