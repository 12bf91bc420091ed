import Ground

/// A persistent ranked B+tree: an ordered map from byte strings to payloads in which every element knows its rank.
///
/// It is a value: copying it makes a version in O(1), and versions share all nodes that later changes do not touch.
/// Positions are counted in two ways, by elements (`rank`) and by the elements' weights (`offset`). Every node stores
/// the number of its elements and their weight, so key, rank and offset are found from each other in O(log n).
///
/// Two versions can differ only in nodes that were copied. So a comparison descends into pairs of nodes with the same
/// bounds, and skips shared nodes. Leaves hold 64 rows, and are built with 60 so that the first rows that are inserted
/// do not split them. Leaves of sections hold 8, because copying a section counts references.
struct RankedTree<Payload: RankedPayload> {
  var root: Node<Payload>?

  init(root: Node<Payload>? = nil) { self.root = root }

  var count: Int { root?.count ?? 0 }
  var weight: Int { root?.weight ?? 0 }
  var isEmpty: Bool { root == nil }

  /// Puts an element in, or replaces the payload of an existing element with this key. O(log n).
  ///
  /// - Returns: whether the element is the first.
  @discardableResult
  mutating func insert<Observer: LeafObserver>(
    _ key: Bytes, _ payload: Payload, observer: inout Observer
  ) -> Bool where Observer.Payload == Payload {
    guard root != nil else {
      var keys = PackedKeys()
      keys.append(key)
      let leaf = Node(keys: keys, payloads: [payload])
      observer.leafWasAdded(leaf, splitFrom: nil)
      observer.elementWasInserted(into: leaf)
      root = leaf
      return true
    }
    // The optional itself is passed, because a copy of the reference would make every root look shared.
    let (right, isFirst) = Node.insert(key, payload, into: &root!, observer: &observer)
    if let right {
      var keys = PackedKeys()
      keys.append(Bytes(start: nil, count: 0))
      right.withLowerBound { keys.append($0) }
      root = Node(keys: keys, children: [root!, right])
    }
    return isFirst
  }

  /// Removes an element, which must exist. O(log n).
  ///
  /// - Returns: whether the element was the first.
  @discardableResult
  mutating func remove<Observer: LeafObserver>(
    _ key: Bytes, observer: inout Observer
  ) -> Bool where Observer.Payload == Payload {
    let wasFirst = Node.remove(key, from: &root!, observer: &observer)
    dropEmptyRoot(observer: &observer)
    dropIdleRoots()
    return wasFirst
  }

  mutating func dropEmptyRoot<Observer: LeafObserver>(observer: inout Observer) where Observer.Payload == Payload {
    guard let top = root, top.slots == 0 else { return }
    if top.isLeaf { observer.leafWasRemoved(top.leafID) }
    root = nil
  }

  mutating func dropIdleRoots() {
    while let top = root, !top.isLeaf, top.children.count == 1 { root = top.children[0] }
  }

  /// Changes the payload of `key`, which must exist; in place if no other version shares the leaf. O(log n).
  mutating func update<Result>(_ key: Bytes, _ body: (inout Payload) -> Result) -> Result {
    Node.update(key, in: &root!, body)
  }

  /// The leaf and slot of `key`. O(log n).
  func find(_ key: Bytes) -> (leaf: Node<Payload>, slot: Int)? {
    guard var node = root else { return nil }
    while !node.isLeaf { node = node.children[node.childIndex(for: key)] }
    return node.slot(of: key).map { (node, $0) }
  }

  /// Whether the first element has this key. The tree must not be empty. O(log n).
  func isFirst(_ key: Bytes) -> Bool {
    let first = element(atRank: 0)
    return first.leaf.keys.withKey(first.slot) { $0.equals(key) }
  }

  func payload(of key: Bytes) -> Payload? { find(key).map { $0.leaf.payloads[$0.slot] } }

  /// The number of elements before `key`, and their weight. O(log n).
  func position(of key: Bytes) -> (rank: Int, offset: Int)? {
    guard var node = root else { return nil }
    var rank = 0
    var offset = 0
    while !node.isLeaf {
      let index = node.childIndex(for: key)
      for before in node.children[..<index] {
        rank += before.count
        offset += before.weight
      }
      node = node.children[index]
    }
    guard let slot = node.slot(of: key) else { return nil }
    return (rank + slot, offset + node.payloads[..<slot].reduce(0) { $0 + $1.weight })
  }

  /// The leaf and slot of the element with rank `rank`, and the weight before it. O(log n).
  func element(atRank rank: Int) -> (leaf: Node<Payload>, slot: Int, offset: Int) {
    precondition(rank >= 0 && rank < count, "rank out of range")
    var node = root!
    var rest = rank
    var offset = 0
    while !node.isLeaf {
      var index = 0
      while rest >= node.children[index].count {
        rest -= node.children[index].count
        offset += node.children[index].weight
        index += 1
      }
      node = node.children[index]
    }
    return (node, rest, offset + node.payloads[..<rest].reduce(0) { $0 + $1.weight })
  }

  /// The element that contains position `offset`, its rank, and the position within it. O(log n).
  func element(atOffset offset: Int) -> (leaf: Node<Payload>, slot: Int, rank: Int, rest: Int) {
    precondition(offset >= 0 && offset < weight, "offset out of range")
    var node = root!
    var rest = offset
    var rank = 0
    while !node.isLeaf {
      var index = 0
      while rest >= node.children[index].weight {
        rest -= node.children[index].weight
        rank += node.children[index].count
        index += 1
      }
      node = node.children[index]
    }
    var slot = 0
    while rest >= node.payloads[slot].weight {
      rest -= node.payloads[slot].weight
      slot += 1
    }
    return (node, slot, rank + slot, rest)
  }

  /// The first `count` elements, sharing all but O(log n) nodes with this tree. The result is only for reading, because
  /// its leaves have no ids of their own.
  func prefix(_ count: Int) -> RankedTree {
    if count >= self.count { return self }
    if count <= 0 { return RankedTree() }
    var result = RankedTree(root: root!.prefix(count))
    result.dropIdleRoots()
    return result
  }

  /// All but the first `count` elements, sharing nodes as `prefix` does.
  func dropping(_ count: Int) -> RankedTree {
    if count <= 0 { return self }
    if count >= self.count { return RankedTree() }
    var result = RankedTree(root: root!.dropping(count))
    result.dropIdleRoots()
    return result
  }
}

extension Node {
  fileprivate static func update<Result>(
    _ key: Bytes, in node: inout Node, _ body: (inout Payload) -> Result
  ) -> Result {
    if !isKnownUniquelyReferenced(&node) { node = node.copy() }
    if node.isLeaf {
      guard let slot = node.slot(of: key) else { preconditionFailure("updating a key that is not in the tree") }
      let weight = node.payloads[slot].weight
      let result = body(&node.payloads[slot])
      node.weight += node.payloads[slot].weight - weight
      return result
    }
    let index = node.childIndex(for: key)
    let weight = node.children[index].weight
    let result = update(key, in: &node.children[index], body)
    node.weight += node.children[index].weight - weight
    return result
  }

  fileprivate func prefix(_ wanted: Int) -> Node {
    if wanted == count { return self }
    if isLeaf { return Node(keys: keys.copy(0..<wanted), payloads: Array(payloads[..<wanted])) }
    var rest = wanted
    var whole = 0
    while whole < children.count, children[whole].count <= rest {
      rest -= children[whole].count
      whole += 1
    }
    var kept = Array(children[..<whole])
    if rest > 0 { kept.append(children[whole].prefix(rest)) }
    return Node(keys: keys.copy(0..<kept.count), children: kept)
  }

  fileprivate func dropping(_ unwanted: Int) -> Node {
    if unwanted == 0 { return self }
    if isLeaf { return Node(keys: keys.copy(unwanted..<count), payloads: Array(payloads[unwanted...])) }
    var rest = unwanted
    var gone = 0
    while children[gone].count <= rest {
      rest -= children[gone].count
      gone += 1
    }
    var kept = Array(children[gone...])
    kept[0] = kept[0].dropping(rest)
    return Node(keys: keys.copy(gone..<children.count), children: kept)
  }
}
