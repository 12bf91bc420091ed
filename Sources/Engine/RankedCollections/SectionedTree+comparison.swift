import Ground

// Compares trees that share no nodes: a followed tree and a newly built one.
extension SectionedTree {
  /// A hash of the content: sections with their labels and counts, rows in their order with their stamps. Equal trees
  /// have equal hashes. O(rows).
  package func digest() -> UInt64 {
    var digest: UInt64 = 1
    forEachSection { label, count in
      digest = label.withUnsafeBytes { $0.hash(seed: digest) }
      digest = Bytes.mix(digest, UInt64(count) | 1 << 63)
    }
    forEachRow(in: 0..<count) { row in
      digest = row.withEntry { $0.hash(seed: digest) }
      digest = Bytes.mix(digest ^ row.stamp.hash, 0xD6E8_FEB8_6659_FD93)
    }
    return digest
  }

  /// The identities of rows that only one of two trees has, or that have another place or stamp in the other. O(rows).
  package func identities(differingFrom other: SectionedTree) -> [[UInt8]] {
    var known = marks()
    var differing: [[UInt8]] = []
    for (identity, mark) in other.marks() where known.removeValue(forKey: identity) != mark {
      differing.append(identity)
    }
    return differing + known.keys
  }

  /// For each identity, a hash of the row's entry and stamp and of its section.
  private func marks() -> [[UInt8]: UInt64] {
    var marks: [[UInt8]: UInt64] = [:]
    var sections: [UInt64] = []
    forEachSection { label, _ in sections.append(label.withUnsafeBytes { $0.hash(seed: 2) }) }
    forEachRow(in: 0..<count) { row in
      marks[row.withIdentity { Array($0) }] = row.withEntry { $0.hash(seed: sections[row.section] ^ row.stamp.hash) }
    }
    return marks
  }
}
