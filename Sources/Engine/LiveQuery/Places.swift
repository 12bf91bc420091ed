/// The place of a row in a result: its section, and its item in the section, both from 0.
package struct IndexPath: Hashable, Comparable, Sendable {
  package var section: Int
  package var item: Int

  package init(section: Int, item: Int) {
    self.section = section
    self.item = item
  }

  package static func < (left: IndexPath, right: IndexPath) -> Bool {
    left.section != right.section ? left.section < right.section : left.item < right.item
  }
}

/// The range of offsets whose row contents a subscription wants.
package struct Window: Hashable, Sendable {
  package var offset: Int
  package var limit: Int

  package init(offset: Int, limit: Int) {
    self.offset = offset
    self.limit = limit
  }

  /// The offsets of the window that a result of `total` rows has.
  package func range(total: Int) -> Range<Int> {
    let start = min(offset, total)
    return start..<(limit < total - start ? start + limit : total)
  }
}

/// A section as clients see it.
package struct SectionInfo: Equatable, Sendable {
  /// The section value.
  package var name: SQLValue
  package var indexTitle: String
  package var count: Int
  /// In the order of their names.
  package var totals: [NamedValue]

  package init(name: SQLValue, indexTitle: String, count: Int, totals: [NamedValue] = []) {
    self.name = name
    self.indexTitle = indexTitle
    self.count = count
    self.totals = totals
  }
}

extension SectionInfo {
  /// Decodes what a `SectionedTree` keeps: a label, which is the packed name and index title, and totals.
  package init(label: [UInt8], totals bytes: [UInt8], count: Int) {
    totals = [NamedValue](totals: bytes)
    (name, indexTitle) = label.withUnsafeBytes { bytes in
      var reader = PackedValueReader(bytes)
      let name = reader.next().value
      guard case .text(let title) = reader.next() else { return (name, "") }
      return (name, String(decoding: title, as: UTF8.self))
    }
    self.count = count
  }
}

/// The form in which a subscription wants rows.
package enum Shape: String, Hashable, Sendable {
  case arrays, objects
}
