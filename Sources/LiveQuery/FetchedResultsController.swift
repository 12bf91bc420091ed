package import RankedCollections

/// Follows one query: keeps its newest version, and makes the next one out of the changes it is told of.
///
/// Pure: it reads no database. Its owner, a worker, looks changed rows up and tells it.
///
/// Mutable state: `editor`, which stands at the newest version's whole tree; `newest`. Both belong to the worker's thread.
package final class FetchedResultsController {
  private var editor: SectionedTreeEditor
  /// The query's `limit`.
  private let limit: Int?
  package private(set) var newest: ResultVersion

  package init(_ editor: SectionedTreeEditor, limit: Int?, commit: Int64) {
    self.editor = editor
    self.limit = limit
    newest = ResultVersion(number: 1, commit: commit, tree: editor.tree.prefix(limit ?? .max))
  }

  /// Makes a version of edits.
  ///
  /// - Parameters:
  ///   - commit: the database state that the edits lead to.
  ///   - edit: changes the tree; when it throws, the controller is of no use any more.
  package func update(commit: Int64, _ edit: (inout SectionedTreeEditor) throws -> Void) rethrows {
    try edit(&editor)
    publish(commit)
  }

  /// Puts a freshly fetched result in the place of the newest version.
  package func replace(with fetched: SectionedTreeEditor, commit: Int64) {
    editor = fetched
    publish(commit)
  }

  private func publish(_ commit: Int64) {
    newest = ResultVersion(number: newest.number + 1, commit: commit, tree: editor.tree.prefix(limit ?? .max))
  }
}
