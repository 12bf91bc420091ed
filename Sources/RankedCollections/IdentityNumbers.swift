/// Numbers byte strings in the order in which they come: a hash table for loops in which a dictionary of arrays would allocate
/// and hash too much.
package struct IdentityNumbers {
  private struct Entry {
    var hash: UInt32
    /// Where it ends in `bytes`; it starts where the one before ends.
    var end: Int
  }

  private var bytes: [UInt8] = []
  private var entries: [Entry] = []
  /// By hash, with linear probing: a number + 1; 0 is empty. A power of two of them, at least twice the entries.
  private var slots: [Int32] = []

  package init() {}

  /// For about `count` of them.
  package init(reserving count: Int) {
    entries.reserveCapacity(count)
    bytes.reserveCapacity(count * 8)
    resize(count)
  }

  package var count: Int { entries.count }
  package var isEmpty: Bool { entries.isEmpty }

  private static func hash(_ identity: Bytes) -> UInt32 { UInt32(truncatingIfNeeded: identity.hash(seed: 0) >> 32) }

  /// Gives a number to an identity that has none. O(its bytes) on average.
  ///
  /// - Returns: its number, and whether it is new.
  @discardableResult
  package mutating func insert(_ identity: Bytes) -> (number: Int, isNew: Bool) {
    if (entries.count + 1) * 2 > slots.count { resize(entries.count + 1) }
    let hash = IdentityNumbers.hash(identity)
    let slot = self.slot(of: identity, hash)
    if slots[slot] != 0 { return (Int(slots[slot]) - 1, false) }
    bytes.append(contentsOf: identity)
    entries.append(Entry(hash: hash, end: bytes.count))
    slots[slot] = Int32(entries.count)
    return (entries.count - 1, true)
  }

  /// The number of an identity, if it has one.
  package func number(of identity: Bytes) -> Int? {
    if entries.isEmpty { return nil }
    let number = slots[slot(of: identity, IdentityNumbers.hash(identity))]
    return number == 0 ? nil : Int(number) - 1
  }

  /// Where an identity is, or would be.
  private func slot(of identity: Bytes, _ hash: UInt32) -> Int {
    bytes.withUnsafeBytes { bytes in
      let mask = slots.count - 1
      var slot = Int(hash) & mask
      while slots[slot] != 0 {
        let number = Int(slots[slot]) - 1
        if entries[number].hash == hash {
          let start = number == 0 ? 0 : entries[number - 1].end
          if Bytes(rebasing: bytes[start..<entries[number].end]).equals(identity) { break }
        }
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
