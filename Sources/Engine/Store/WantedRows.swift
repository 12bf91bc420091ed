import Ground
import RankedCollections

/// Rows to be found by identity, sorted by identity.
///
/// A table usually stores its rows in this order, so a scan usually reads them in it. Each row is then found right
/// after the previous one.
struct WantedRows {
  private struct Wanted {
    /// The identity's first eight bytes, which decide most comparisons.
    var prefix: UInt64
    /// Where the identity starts in `identities`.
    var start: Int
    var length: Int32
    /// The row's index among the wanted rows.
    var place: Int32
  }

  private var identities: [UInt8] = []
  private var sorted: [Wanted] = []
  /// The index after the row that was found last.
  private var next = 0

  init(_ rows: some Collection<SectionedTree.Row>) {
    sorted.reserveCapacity(rows.count)
    for row in rows {
      row.withIdentity { identity in
        sorted.append(
          Wanted(
            prefix: identity.word(at: 0), start: identities.count, length: Int32(identity.count),
            place: Int32(sorted.count)))
        identities.append(contentsOf: identity)
      }
    }
    identities.withUnsafeBytes { bytes in
      sorted.sort { left, right in
        if left.prefix != right.prefix { return left.prefix < right.prefix }
        return WantedRows.identity(left, bytes).compare(WantedRows.identity(right, bytes)) < 0
      }
    }
  }

  var count: Int { sorted.count }

  private static func identity(_ wanted: Wanted, _ bytes: Bytes) -> Bytes {
    Bytes(rebasing: bytes[wanted.start..<wanted.start + Int(wanted.length)])
  }

  /// The index of the wanted row with an identity; nil if no row has it. O(1) if called in the order of identities,
  /// otherwise O(log count).
  mutating func place(of identity: Bytes) -> Int? {
    let prefix = identity.word(at: 0)
    return identities.withUnsafeBytes { bytes in
      // Compares the row at an index: negative, zero or positive.
      let compare = { [sorted] (index: Int) -> Int in
        let wanted = sorted[index]
        if wanted.prefix != prefix { return wanted.prefix < prefix ? -1 : 1 }
        // The prefix contains all bytes of a short identity, so the array of identities, which may not be in the cache,
        // is not read.
        if identity.count <= 8, wanted.length == identity.count { return 0 }
        return WantedRows.identity(wanted, bytes).compare(identity)
      }
      if next == sorted.count || compare(next) != 0 {
        var (low, high) = (0, sorted.count)
        while low < high {
          let middle = (low + high) / 2
          if compare(middle) < 0 { low = middle + 1 } else { high = middle }
        }
        next = low
        if low == sorted.count || compare(low) != 0 { return nil }
      }
      defer { next += 1 }
      return Int(sorted[next].place)
    }
  }

  /// Calls `body` with each row's place and identity, in the order of identities.
  func forEach(_ body: (_ place: Int, _ identity: Bytes) throws -> Void) rethrows {
    try identities.withUnsafeBytes { bytes in
      for wanted in sorted { try body(Int(wanted.place), WantedRows.identity(wanted, bytes)) }
    }
  }
}
