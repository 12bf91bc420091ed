package import LiveQuery

/// What a subscription gets, as values: from the engine in this process, or read from the network. Protocol 3.2.
package enum ListMessage: Sendable {
  case snapshot(ListSnapshot)
  case rows(ListRows)
  case patch(ListPatch)
  /// Nil: the result has no such row.
  case located(LiveQuery.IndexPath?)
  /// What the other side says about the list, or about its new query. Fatal: nothing more comes.
  case error(FreshetError, isFatal: Bool)
  /// The list may be behind for a reason that is not its own: the connection's, for instance. It is over with the next
  /// update, or with `current` where it outlasts updates.
  case delayed(FreshetError, outlastsUpdates: Bool)
  /// The list is up to date: a delay is over.
  case current
  /// What is laid over the list has changed. It does not come from the other side.
  case laid
}

package struct ListSnapshot: Sendable {
  package var version: String
  package var commit: Int64
  package var columns: [String]
  package var key: [String]
  package var total: Int
  package var sections: [SectionInfo]
  package var window: Window?
  package var alongside: [NamedValue]
  /// Nil: the server does not say.
  package var order: RowOrder?
  /// The first of them, or all.
  package var rows: ListRows

  package init(
    version: String, commit: Int64, columns: [String], key: [String], total: Int, sections: [SectionInfo],
    window: Window?, alongside: [NamedValue], order: RowOrder?, rows: ListRows
  ) {
    self.version = version
    self.commit = commit
    self.columns = columns
    self.key = key
    self.total = total
    self.sections = sections
    self.window = window
    self.alongside = alongside
    self.order = order
    self.rows = rows
  }
}

/// Contents of rows, from an offset in the result on.
package struct ListRows: Sendable {
  package var version: String
  /// The new window, in the answer to a request for one.
  package var window: Window?
  package var offset: Int
  package var rows: [[SQLValue]]
  package var isComplete: Bool

  package init(version: String, window: Window?, offset: Int, rows: [[SQLValue]], isComplete: Bool) {
    self.version = version
    self.window = window
    self.offset = offset
    self.rows = rows
    self.isComplete = isComplete
  }
}

/// Protocol 3.3.
package struct ListPatch: Sendable {
  package struct InsertedSection: Sendable {
    package var index: Int
    package var info: SectionInfo
    /// Nil with a window.
    package var rows: [[SQLValue]]?

    package init(index: Int, info: SectionInfo, rows: [[SQLValue]]?) {
      self.index = index
      self.info = info
      self.rows = rows
    }
  }

  package struct Insertion: Sendable {
    package var path: LiveQuery.IndexPath
    /// Nil outside the window.
    package var row: [SQLValue]?

    package init(path: LiveQuery.IndexPath, row: [SQLValue]?) {
      self.path = path
      self.row = row
    }
  }

  package struct Change: Sendable {
    package var from: LiveQuery.IndexPath
    package var to: LiveQuery.IndexPath
    /// New values by column: at least those that differ.
    package var values: [(column: Int, value: SQLValue)]

    package init(
      from: LiveQuery.IndexPath, to: LiveQuery.IndexPath, values: [(column: Int, value: SQLValue)]
    ) {
      self.from = from
      self.to = to
      self.values = values
    }
  }

  package var from: String
  package var to: String
  package var commit: Int64
  package var total: Int
  package var deleted: [LiveQuery.IndexPath] = []
  package var sectionsDeleted: [Int] = []
  package var sectionsInserted: [InsertedSection] = []
  package var inserted: [Insertion] = []
  package var moved: [Change] = []
  package var updated: [Change] = []
  package var window: Window?
  package var filled: [(offset: Int, row: [SQLValue])] = []
  /// Those that changed, or all.
  package var alongside: [NamedValue] = []
  /// That of another query; nil: it is as it was.
  package var order: RowOrder?

  package init(from: String, to: String, commit: Int64, total: Int) {
    self.from = from
    self.to = to
    self.commit = commit
    self.total = total
  }
}
