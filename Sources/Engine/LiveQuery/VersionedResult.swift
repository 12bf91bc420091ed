package import Ground
package import RankedCollections

/// The result of one query: its newest version, from which changes make the next one.
///
/// It reads no database; its owner, a list, looks up changed rows.
///
/// Mutable state: `editor`, whose tree is the newest version's whole tree; `published`; `newest`.
package struct VersionedResult {
  package private(set) var editor: SectionedTreeEditor
  /// The whole tree of the newest version.
  private var published: SectionedTree
  /// The offsets, in the whole tree, of the rows that LIMIT and OFFSET show.
  private var shown: Range<Int>
  package private(set) var newest: ResultVersion

  package init(_ editor: SectionedTreeEditor, shown: Range<Int>, alongside: [NamedValue] = []) {
    self.editor = editor
    published = editor.tree
    self.shown = shown
    newest = ResultVersion(number: 1, tree: editor.tree.rows(at: shown), alongside: alongside)
  }

  /// Makes a new version by edits.
  ///
  /// - Parameters:
  ///   - alongside: the values alongside the result; nil if they are unchanged.
  ///   - edit: changes the tree. If it throws, `replace` must be called with a whole result.
  /// - Returns: whether there is a new version; false if nothing differs.
  @discardableResult
  package mutating func update(
    alongside: [NamedValue]? = nil, _ edit: (inout SectionedTreeEditor) throws -> Void
  ) rethrows -> Bool {
    try edit(&editor)
    return publish(alongside)
  }

  /// Replaces the newest version's result by a whole result.
  @discardableResult
  package mutating func replace(
    _ fetched: SectionedTreeEditor, shown: Range<Int>, alongside: [NamedValue]? = nil
  ) -> Bool {
    let isOther = shown != self.shown
    (editor, self.shown) = (fetched, shown)
    return publish(alongside, isOther: isOther)
  }

  private mutating func publish(_ alongside: [NamedValue]?, isOther: Bool = false) -> Bool {
    let alongside = alongside ?? newest.alongside
    if !isOther, editor.tree.isIdentical(to: published), alongside == newest.alongside { return false }
    published = editor.tree
    newest = ResultVersion(
      number: newest.number + 1, tree: editor.tree.rows(at: shown), alongside: alongside)
    return true
  }

  /// Whether the whole tree has a row of this identity. O(1) expected.
  package func contains(_ identity: Bytes) -> Bool { editor.contains(identity) }

  /// The place of the row with this identity in the newest version. O(log n).
  package func place(of identity: [UInt8]) -> (path: IndexPath, offset: Int)? {
    guard let (_, _, offset) = identity.withUnsafeBytes({ editor.position(of: $0) }), shown.contains(offset) else {
      return nil
    }
    let row = newest.tree.row(atOffset: offset - shown.lowerBound)
    return (IndexPath(section: row.section, item: row.item), offset - shown.lowerBound)
  }
}
