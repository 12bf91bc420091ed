import Ground

// Merges a new run into the version before. The two usually differ little, and the merged version shares all equal
// nodes with the earlier one. So earlier versions take little memory, and the difference is found quickly.
extension SectionedTreeBuilder {
  /// The edits that turn a version into the rows of the builder.
  private struct Edits {
    var removed: [[UInt8]] = []
    /// The indexes of the draft and of the record in it.
    var inserted: [(draft: Int, record: Int)] = []
    var restamped: [(draft: Int, record: Int)] = []
    var limit: Int

    var isTooMany: Bool { removed.count + inserted.count + restamped.count > limit }
  }

  /// Turns the editor's version into the builder's sorted rows.
  ///
  /// - Returns: the identities of rows that were inserted or changed. Nil, and the editor is unchanged, if so much
  ///   differs that building a new tree is cheaper.
  /// - Throws: `DuplicateIdentity`; the editor must not be used then.
  /// - Complexity: O(n + changes × log n).
  package func merge(into editor: inout SectionedTreeEditor) throws -> [[UInt8]]? {
    defer { withExtendedLifetime(arena) {} }
    guard let edits = edits(from: editor.tree) else { return nil }
    for identity in edits.removed { _ = identity.withUnsafeBytes { editor.remove($0) } }
    for place in edits.restamped {
      with(place) { editor.put(section: $0, label: $1, entry: $2, stamp: $3) }
    }
    for place in edits.inserted {
      try with(place) { section, label, entry, stamp in
        if !editor.insert(section: section, label: label, entry: entry, stamp: stamp) {
          throw DuplicateIdentity(identity: Array(RankedEntry.identity(of: entry)))
        }
      }
    }
    for draft in drafts { editor.relabel(draft.key, draft.label) }
    return (edits.restamped + edits.inserted).map { place in
      with(place) { _, _, entry, _ in Array(RankedEntry.identity(of: entry)) }
    }
  }

  private func with<Result>(
    _ place: (draft: Int, record: Int), _ body: (Bytes, Bytes, Bytes, RowStamp) throws -> Result
  ) rethrows -> Result {
    let draft = drafts[place.draft]
    let record = draft.records[place.record]
    return try draft.label.withUnsafeBytes { try body(draft.key, $0, record.bytes, record.stamp) }
  }

  private func edits(from tree: SectionedTree) -> Edits? {
    var edits = Edits(limit: max(64, count / 8))
    var next = 0
    var cursor = TreeCursor(tree.sections)
    while !cursor.isAtEnd, !edits.isTooMany {
      let rows = cursor.leaf.payloads[cursor.slot].rows
      cursor.leaf.keys.withKey(cursor.slot) { key in
        while next < drafts.count, drafts[next].key.compare(key) < 0 {
          insertAll(next, &edits)
          next += 1
        }
        if next < drafts.count, drafts[next].key.equals(key) {
          compare(rows, next, &edits)
          next += 1
        } else {
          compare(rows, nil, &edits)
        }
      }
      cursor.advance()
    }
    while next < drafts.count, !edits.isTooMany {
      insertAll(next, &edits)
      next += 1
    }
    return edits.isTooMany ? nil : edits
  }

  private func insertAll(_ draft: Int, _ edits: inout Edits) {
    for record in drafts[draft].records.indices.prefix(edits.limit + 1) { edits.inserted.append((draft, record)) }
  }

  /// Compares a section's rows with those of a draft, if there is a draft for the section.
  private func compare(_ rows: RankedTree<RowStamp>, _ draft: Int?, _ edits: inout Edits) {
    let records = draft.map { drafts[$0].records } ?? []
    var next = 0
    var cursor = TreeCursor(rows)
    while !cursor.isAtEnd, !edits.isTooMany {
      let leaf = cursor.leaf
      let slot = cursor.slot
      leaf.keys.withKey(slot) { entry in
        while let draft, next < records.count {
          let order = records[next].bytes.compare(entry)
          if order > 0 { break }
          if order == 0 {
            if records[next].stamp != leaf.payloads[slot] { edits.restamped.append((draft, next)) }
            next += 1
            return
          }
          edits.inserted.append((draft, next))
          next += 1
        }
        edits.removed.append(Array(RankedEntry.identity(of: entry)))
      }
      cursor.advance()
    }
    if let draft {
      for record in records.indices.dropFirst(next).prefix(edits.limit + 1) { edits.inserted.append((draft, record)) }
    }
  }
}
