package import Ground

/// Numbers byte strings in the order in which they are added: a hash table for loops in which a dictionary of arrays
/// would allocate and hash too much.
package struct IdentityNumbers {
  private struct Entry {
    var hash: UInt32
    /// Where the identity ends in `bytes`. It starts at the end of the previous one.
    var end: Int
  }

  private var bytes: [UInt8] = []
  private var entries: [Entry] = []
  /// Hash table with linear probing. A slot is a number + 1, or 0 if it is empty. The number of slots is a power of
  /// two, at least twice the number of entries. There are no slots while there are so few entries that a linear search
  /// is faster.
  private var slots: [Int32] = []

  #if DEBUG
    private static let few = 2
  #else
    private static let few = 8
  #endif

  package init() {}

  /// Allocates memory for about `count` identities.
  package init(reserving count: Int) {
    entries.reserveCapacity(count)
    bytes.reserveCapacity(count * 8)
    if count > IdentityNumbers.few { resize(count) }
  }

  /// Removes all identities, and keeps their memory for new ones.
  package mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    entries.removeAll(keepingCapacity: true)
    slots = []
  }

  package var count: Int { entries.count }
  package var isEmpty: Bool { entries.isEmpty }

  static func hash(_ identity: Bytes) -> UInt32 {
    UInt32(truncatingIfNeeded: identity.hash(seed: Bytes.tableSeed) >> 32)
  }

  /// Returns the number of an identity, and gives it one if it is new. O(bytes of the identity) on average.
  ///
  /// - Returns: its number, and whether it is new.
  @discardableResult
  package mutating func insert(_ identity: Bytes) -> (number: Int, isNew: Bool) {
    let number = entries.count
    let hash = IdentityNumbers.hash(identity)
    if slots.isEmpty, number < IdentityNumbers.few {
      if let known = position(of: identity, hash) { return (known, false) }
    } else {
      if (number + 1) * 2 > slots.count { resize(number + 1) }
      let slot = self.slot(of: identity, hash)
      if slots[slot] != 0 { return (Int(slots[slot]) - 1, false) }
      slots[slot] = Int32(number + 1)
    }
    bytes.append(contentsOf: identity)
    entries.append(Entry(hash: hash, end: bytes.count))
    return (number, true)
  }

  /// The number of an identity, if it has one.
  package func number(of identity: Bytes) -> Int? {
    let hash = IdentityNumbers.hash(identity)
    if slots.isEmpty { return position(of: identity, hash) }
    let number = slots[slot(of: identity, hash)]
    return number == 0 ? nil : Int(number) - 1
  }

  /// Calls `body` with the identity of a number.
  package func withIdentity(_ number: Int, _ body: (Bytes) throws -> Void) rethrows {
    try bytes.withUnsafeBytes { try body(identity(number, in: $0)) }
  }

  @inline(__always)
  private func identity(_ number: Int, in bytes: Bytes) -> Bytes {
    Bytes(rebasing: bytes[(number == 0 ? 0 : entries[number - 1].end)..<entries[number].end])
  }

  private func position(of identity: Bytes, _ hash: UInt32) -> Int? {
    bytes.withUnsafeBytes { bytes in
      entries.indices.first { entries[$0].hash == hash && self.identity($0, in: bytes).equals(identity) }
    }
  }

  /// The slot that contains an identity, or the empty slot where it belongs.
  private func slot(of identity: Bytes, _ hash: UInt32) -> Int {
    bytes.withUnsafeBytes { bytes in
      let mask = slots.count - 1
      var slot = Int(hash) & mask
      while slots[slot] != 0 {
        let number = Int(slots[slot]) - 1
        if entries[number].hash == hash, self.identity(number, in: bytes).equals(identity) { break }
        slot = (slot + 1) & mask
      }
      return slot
    }
  }

  private mutating func resize(_ count: Int) {
    var size = 16
    while size < count * 2 { size *= 2 }
    slots = Array(repeating: 0, count: size)
    for (number, entry) in entries.enumerated() {
      var slot = Int(entry.hash) & (size - 1)
      while slots[slot] != 0 { slot = (slot + 1) & (size - 1) }
      slots[slot] = Int32(number + 1)
    }
  }
}

// These functions number rows. They are in this module because a generic closure result is slow across modules.
extension IdentityNumbers {
  package mutating func insert(_ row: SectionedTree.Row) -> (number: Int, isNew: Bool) {
    row.leaf.withIdentity(row.slot) { insert($0) }
  }

  package func number(of row: SectionedTree.Row) -> Int? { row.leaf.withIdentity(row.slot) { number(of: $0) } }
}

extension Bytes {
  /// The seed of the hash tables: random in every process, so that clients cannot choose keys that share a slot. With
  /// SWIFT_DETERMINISTIC_HASHING it is always the same.
  static let tableSeed = UInt64(bitPattern: Int64(Hasher().finalize()))
}
