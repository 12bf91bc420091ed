/// What a statement did to a row.
///
/// It says how a key came into the log, not what is true now: a reader looks the key up.
package enum ChangeOperation: Int64, Sendable {
  /// A row of this key appeared; also the new key of an update of the key.
  case insert = 0
  /// A row of this key changed in the columns of the mask; the key itself did not.
  case update = 1
  /// The row of this key is gone; also the old key of an update of the key.
  case delete = 2
  /// The row of this key stood in the way of a REPLACE in a unique index and may be gone.
  case displace = 3
}

/// One row of the log, valid only while `ChangeLogReader.read` calls its body.
package struct ChangeRow: ~Copyable {
  /// The `sqlite3_stmt` that stands on the row. Its key is in the columns from `firstKeyColumn` on, as many as the
  /// table's key has, and behind it the old values of the captured columns: all with their exact storage classes.
  package let statement: OpaquePointer
  /// Counts every change since the log began, from 1, without gaps.
  package let sequence: Int64
  /// `TrackedTable.id`; a reader passes over ids it does not know, which are those of dropped tables.
  package let table: Int64
  package let operation: ChangeOperation
  package let columns: ColumnMask

  /// The column of `statement` that holds the first value of the key.
  package static let firstKeyColumn = Int32(ChangeLogSchema.logColumnsBeforeValues)

  /// Whether the row tells what the captured columns of its key held before, in `TrackedTable.oldColumn`: whenever a
  /// row's former state ended in which they may have been others. O(1).
  ///
  /// - Parameter table: the one that `self.table` names.
  package func hasOldValues(of table: borrowing TrackedTable) -> Bool {
    operation != .insert && columns.intersects(table.capturedMask)
  }
}

/// How a reading of the log ended.
package enum ReadOutcome: Sendable, Equatable {
  /// All changes after the given position, up to this number, were passed to the body.
  case complete(Int64)
  /// Changes after the given position are lost: they were trimmed, or the log was repaired or made anew meanwhile.
  /// The body was not called; whatever was derived from the log is to be fetched anew, and reading goes on from this
  /// number.
  case gap(newest: Int64)

  package var newest: Int64 {
    switch self {
    case .complete(let newest), .gap(let newest): newest
    }
  }
}
