public import Foundation
public import LiveQuery

/// Kinds of changes of a row or a section.
public enum ResultsChangeType: Hashable, Sendable {
  case insert, delete, move, update
}

/// Is called for each change, in the order that table and collection views need: `willChange`, sections, rows,
/// `didChange`.
///
/// All methods are called on the actor on which `performFetch` was called. Between `willChange` and `didChange` the
/// controller already has the new results.
public protocol FetchedResultsControllerDelegate<Element>: AnyObject {
  associatedtype Element: Sendable

  /// The whole change, for views that take it at once. The default implementation calls the methods for its parts.
  ///
  /// - Parameter old: the results before the change; the controller has those after it.
  func controller(
    _ controller: FetchedResultsController<Element>, didApply patch: ResultsPatch, to old: SectionedResults<Element>)

  func controllerWillChangeContent(_ controller: FetchedResultsController<Element>)

  /// - Parameters:
  ///   - section: nil for a deleted one.
  ///   - index: in the old results for a deletion, in the new ones for an insertion.
  ///   - type: `insert` or `delete`.
  func controller(
    _ controller: FetchedResultsController<Element>, didChange section: SectionedResults<Element>.Section?,
    atSectionIndex index: Int, for type: ResultsChangeType)

  /// - Parameters:
  ///   - object: nil for a deleted row and for a row outside the window.
  ///   - indexPath: in the old results; nil for an insertion. A row that comes into the window is an update.
  ///   - newIndexPath: in the new results; nil for a deletion.
  func controller(
    _ controller: FetchedResultsController<Element>, didChange object: Element?, at indexPath: IndexPath?,
    for type: ResultsChangeType, newIndexPath: IndexPath?)

  func controllerDidChangeContent(_ controller: FetchedResultsController<Element>)

  /// All results are new, as after `reloadData`. Called instead of the other methods.
  func controllerDidReplaceContent(_ controller: FetchedResultsController<Element>)

  /// The list is out of date, and continues by itself; nil: it is up to date again.
  func controller(_ controller: FetchedResultsController<Element>, isDelayedBy error: FreshetError?)

  /// A query passed to `requery` cannot be followed: the list continues with the former one.
  func controller(
    _ controller: FetchedResultsController<Element>, didRefuse query: Query, because error: FreshetError)

  /// The list has failed, and is not followed any more.
  func controller(_ controller: FetchedResultsController<Element>, didFailWith error: FreshetError)
}

extension FetchedResultsControllerDelegate {
  public func controllerWillChangeContent(_ controller: FetchedResultsController<Element>) {}

  public func controller(
    _ controller: FetchedResultsController<Element>, didChange section: SectionedResults<Element>.Section?,
    atSectionIndex index: Int, for type: ResultsChangeType
  ) {}

  public func controller(
    _ controller: FetchedResultsController<Element>, didChange object: Element?, at indexPath: IndexPath?,
    for type: ResultsChangeType, newIndexPath: IndexPath?
  ) {}

  public func controllerDidChangeContent(_ controller: FetchedResultsController<Element>) {}
  public func controllerDidReplaceContent(_ controller: FetchedResultsController<Element>) {
    controllerDidChangeContent(controller)
  }
  public func controller(_ controller: FetchedResultsController<Element>, isDelayedBy error: FreshetError?) {}
  public func controller(
    _ controller: FetchedResultsController<Element>, didRefuse query: Query, because error: FreshetError
  ) {}
  public func controller(_ controller: FetchedResultsController<Element>, didFailWith error: FreshetError) {}
}

extension FetchedResultsControllerDelegate {
  /// Calls the methods for a patch's parts, in Core Data's order.
  public func controller(
    _ controller: FetchedResultsController<Element>, didApply patch: ResultsPatch, to old: SectionedResults<Element>
  ) {
    let results = controller.results
    controllerWillChangeContent(controller)
    for index in patch.deletedSections {
      self.controller(controller, didChange: nil, atSectionIndex: index, for: .delete)
    }
    for index in patch.insertedSections {
      self.controller(controller, didChange: results.sections[index], atSectionIndex: index, for: .insert)
    }
    for path in patch.deletions {
      self.controller(controller, didChange: nil, at: path, for: .delete, newIndexPath: nil)
    }
    for path in patch.insertions {
      let object = results.objectIfLoaded(at: path)
      self.controller(controller, didChange: object, at: nil, for: .insert, newIndexPath: path)
    }
    for (type, changes) in [(ResultsChangeType.move, patch.moves), (.update, patch.updates)] {
      for change in changes {
        let object = results.objectIfLoaded(at: change.to)
        self.controller(controller, didChange: object, at: change.from, for: type, newIndexPath: change.to)
      }
    }
    for change in patch.loadedInPlace(from: old, to: results) {
      // For a view, a row whose contents were loaded counts as updated in place.
      let object = results.objectIfLoaded(at: change.to)
      self.controller(controller, didChange: object, at: change.from, for: .update, newIndexPath: change.to)
    }
    controllerDidChangeContent(controller)
  }
}
