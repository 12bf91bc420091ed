import Ground

/// Finds a row of the newest version by its identity: a hash table from identities to leaves.
///
/// A slot holds 32 bits of the identity's hash and the id of the leaf that contains the row; a look-up then compares
/// the identities in that leaf. So a row takes about ten bytes here, however long its key is, and when a leaf is copied
/// only the pointer to that leaf changes. Linear probing, deletion by shifting back: a probe ends at the first empty
/// slot.
struct IdentityIndex {
  typealias Leaf = Node<RowStamp>

  /// `hash << 32 | leafID + 1`; 0 is empty. A slot's home is a function of its hash alone.
  private var slots: [UInt64]
  private(set) var used = 0
  /// Leaves and their sections by leaf id. Unretained: the newest version keeps its leaves alive, and this index
  /// belongs to it.
  private(set) var leaves: [(leaf: Unmanaged<Leaf>, section: SectionKey)?] = []
  private var freeLeafIDs: [UInt32] = []
  /// The section of the leaf that is being added, if it is the first leaf of its tree.
  var currentSection = SectionKey([])
  /// The hash of the identity being inserted.
  var pendingHash: UInt32 = 0

  /// Allocates slots for about `count` rows.
  init(reserving count: Int) {
    // The table grows only after a thirty-second more rows, because growing takes as long as the changes of a large
    // commit.
    slots = Array(repeating: 0, count: max(8, (count + count / 32) * 5 / 4))
  }

  static func hash(_ identity: Bytes) -> UInt32 {
    UInt32(truncatingIfNeeded: identity.hash(seed: Bytes.tableSeed) >> 32)
  }

  private func home(_ hash: UInt32) -> Int { Int((UInt64(hash) &* UInt64(slots.count)) >> 32) }
  private func next(_ position: Int) -> Int { position + 1 == slots.count ? 0 : position + 1 }
  private static func hash(ofSlot slot: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: slot >> 32) }
  private static func leafID(ofSlot slot: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: slot) - 1 }
  private static func pack(_ hash: UInt32, _ leafID: UInt32) -> UInt64 { UInt64(hash) << 32 | UInt64(leafID + 1) }

  /// The leaf, slot and section of the row with this identity. O(1) expected, plus a scan of one leaf.
  func find(_ identity: Bytes) -> (leaf: Leaf, slot: Int, section: SectionKey)? {
    find(identity, hash: IdentityIndex.hash(identity))
  }

  func find(_ identity: Bytes, hash: UInt32) -> (leaf: Leaf, slot: Int, section: SectionKey)? {
    var position = home(hash)
    while slots[position] != 0 {
      if IdentityIndex.hash(ofSlot: slots[position]) == hash,
        let (leaf, section) = leaves[Int(IdentityIndex.leafID(ofSlot: slots[position]))]
      {
        let leaf = leaf.takeUnretainedValue()
        if let slot = leaf.slot(ofIdentity: identity) { return (leaf, slot, section) }
      }
      position = next(position)
    }
    return nil
  }

  private mutating func insert(_ hash: UInt32, leafID: UInt32) {
    if used * 5 >= slots.count * 4 { grow() }
    var position = home(hash)
    while slots[position] != 0 { position = next(position) }
    slots[position] = IdentityIndex.pack(hash, leafID)
    used += 1
  }

  private mutating func grow() {
    let old = slots
    slots = Array(repeating: 0, count: old.count * 3 / 2)
    for slot in old where slot != 0 {
      var position = home(IdentityIndex.hash(ofSlot: slot))
      while slots[position] != 0 { position = next(position) }
      slots[position] = slot
    }
  }

  private func position(of slot: UInt64) -> Int {
    var position = home(IdentityIndex.hash(ofSlot: slot))
    while slots[position] != slot {
      precondition(slots[position] != 0, "a row is missing from the identity index")
      position = next(position)
    }
    return position
  }

  /// Removes a row from the index, before it is removed from its leaf.
  mutating func remove(hash: UInt32, leafID: UInt32) {
    var hole = position(of: IdentityIndex.pack(hash, leafID))
    used -= 1
    var position = next(hole)
    while slots[position] != 0 {
      // A row may move into the hole if its home slot is not between the hole and its present slot (cyclically).
      let home = home(IdentityIndex.hash(ofSlot: slots[position]))
      let stays = hole < position ? (hole < home && home <= position) : (hole < home || home <= position)
      if !stays {
        slots[hole] = slots[position]
        hole = position
      }
      position = next(position)
    }
    slots[hole] = 0
  }

  /// Adds a leaf of a newly built tree with all its rows.
  ///
  /// - Returns: the slot of a row whose identity was in the index already; nil if all identities are new.
  mutating func add(_ leaf: Leaf, of section: SectionKey) -> Int? {
    currentSection = section
    leafWasAdded(leaf, splitFrom: nil)
    for slot in leaf.payloads.indices {
      let isNew = leaf.withIdentity(slot) { insert(new: $0, at: slot, of: leaf) }
      if !isNew { return slot }
    }
    return nil
  }

  /// Adds an identity unless the index has it: one probe both looks for it and finds its slot. There must be an empty
  /// slot.
  ///
  /// - Returns: false if the index had the identity already.
  private mutating func insert(new identity: Bytes, at slot: Int, of leaf: Leaf) -> Bool {
    let hash = IdentityIndex.hash(identity)
    var position = home(hash)
    while slots[position] != 0 {
      if IdentityIndex.hash(ofSlot: slots[position]) == hash,
        let (other, _) = leaves[Int(IdentityIndex.leafID(ofSlot: slots[position]))],
        let found = other.takeUnretainedValue().slot(ofIdentity: identity),
        // The leaf contains the new row already, and may have been found through another row with the same hash.
        other.toOpaque() != Unmanaged.passUnretained(leaf).toOpaque() || found < slot
      {
        return false
      }
      position = next(position)
    }
    slots[position] = IdentityIndex.pack(hash, leaf.leafID)
    used += 1
    return true
  }
}

extension IdentityIndex: LeafObserver {
  mutating func leafWasAdded(_ leaf: Leaf, splitFrom other: Leaf?) {
    let section = other.flatMap { leaves[Int($0.leafID)]?.section } ?? currentSection
    let entry = (Unmanaged.passUnretained(leaf), section)
    if let id = freeLeafIDs.popLast() {
      leaf.leafID = id
      leaves[Int(id)] = entry
    } else {
      leaf.leafID = UInt32(leaves.count)
      leaves.append(entry)
    }
  }

  mutating func elementWasInserted(into leaf: Leaf) { insert(pendingHash, leafID: leaf.leafID) }

  mutating func leafWasReplaced(by leaf: Leaf) {
    leaves[Int(leaf.leafID)]?.leaf = Unmanaged.passUnretained(leaf)
  }

  mutating func elements(_ range: Range<Int>, of leaf: Leaf, cameFrom old: UInt32) {
    for slot in range {
      let hash = leaf.withIdentity(slot) { IdentityIndex.hash($0) }
      slots[position(of: IdentityIndex.pack(hash, old))] = IdentityIndex.pack(hash, leaf.leafID)
    }
  }

  mutating func leafWasRemoved(_ leafID: UInt32) {
    leaves[Int(leafID)] = nil
    freeLeafIDs.append(leafID)
  }
}

extension Node where Payload == RowStamp {
  func withIdentity<Result>(_ slot: Int, _ body: (Bytes) throws -> Result) rethrows -> Result {
    try keys.withKey(slot) { try body(RankedEntry.identity(of: $0)) }
  }

  func slot(ofIdentity identity: Bytes) -> Int? {
    guard let last = identity.last else { return nil }
    let length = identity.count < 255 ? UInt8(identity.count) : 255
    // Most other identities differ in the last byte, which comes just before the trailer.
    let place = identity.count < 255 ? 2 : 6
    return keys.firstIndex { entry in
      entry[entry.count - 1] == length && entry[entry.count - place] == last
        && RankedEntry.identity(of: entry).equals(identity)
    }
  }
}

/// A section's encoded value, shared by the section's leaves.
final class SectionKey: Sendable {
  let bytes: [UInt8]
  init(_ bytes: [UInt8]) { self.bytes = bytes }
}
