package import ChangeCapture
package import LiveQuery

/// The changes of the row or rows that have a key.
package struct KeyChange {
  /// The columns that may have changed; all if a row was inserted or deleted, or got another key.
  package let columns: ColumnMask
  /// Whether a row had the key before, and whether a row has it now.
  package let wasThere: Bool
  package let isThere: Bool
  /// Whether the key contains NULL. Several rows may have such a key.
  package let hasNull: Bool
}

// Access to changed rows for callers that know how the table's rows are stored.
extension ChangedRows {
  /// Calls `body` with the encoded key of each row, and with both keys if the key changed. A key comes twice if one row
  /// had it before and a different row has it now.
  ///
  /// - Returns: false if a key is unknown, or as soon as `body` returns false.
  package func forEachKey<Failure>(
    in storage: TableStorage, _ body: (_ key: [UInt8], KeyChange) throws(Failure) -> Bool
  ) throws(Failure) -> Bool {
    var (key, other): ([UInt8], [UInt8]) = ([], [])
    for row in rows {
      let columns = ColumnMask(rawValue: row.columns)
      let (wasThere, isThere) = (row.kind != .insert, row.kind != .delete)
      guard let hasNull = encodeKey(of: row, wasThere ? .former : .present, in: storage, to: &key) else { return false }
      var change = KeyChange(columns: columns, wasThere: wasThere, isThere: isThere, hasNull: hasNull)
      if wasThere, isThere, storage.keyFields != nil, !storage.isWithoutRowid {
        // The key's columns are among the remembered ones. If an update changed them, the row has a different key now.
        guard let hasNull = encodeKey(of: row, .present, in: storage, to: &other) else { return false }
        if key != other {
          change = KeyChange(columns: .all, wasThere: true, isThere: false, hasNull: change.hasNull)
          let now = KeyChange(columns: .all, wasThere: false, isThere: true, hasNull: hasNull)
          if try !body(other, now) { return false }
        }
      }
      if try !body(key, change) { return false }
    }
    return true
  }

  /// - Returns: whether the key contains NULL; nil if the key is unknown.
  private func encodeKey(of row: Row, _ time: Time, in storage: TableStorage, to key: inout [UInt8]) -> Bool? {
    key.removeAll(keepingCapacity: true)
    guard let columns = storage.keyColumns else {
      KeyEncoder.append(PackedValue.integer(row.rowid), .identity, to: &key)
      return false
    }
    var hasNull = false
    let isKnown = forEachValue(of: row, time, columns: columns, in: storage) { _, value in
      if case .null = value { hasNull = true }
      KeyEncoder.append(value, .identity, to: &key)
    }
    return isKnown ? hasNull : nil
  }

  /// Calls `body` with the stored values of a row's key and their places in the key. For a key that is not the b-tree's
  /// own, these are the former values. An encoded key is not enough, because 3.0 and 3 have the same one, and `typeof`
  /// distinguishes them.
  ///
  /// - Returns: false if one of the values is unknown.
  package func forEachKeyValue(of row: Row, in storage: TableStorage, _ body: (Int, PackedValue) -> Void) -> Bool {
    guard let columns = storage.keyColumns else {
      body(0, .integer(row.rowid))
      return true
    }
    return forEachValue(of: row, .former, columns: columns, in: storage, body)
  }

  package enum Time { case former, present }

  /// Calls `body` with the value of each column and its index in `columns`. Text is in the database's encoding.
  ///
  /// - Returns: false if one of the values is unknown.
  package func forEachValue(
    of row: Row, _ time: Time, columns: [Int], in storage: TableStorage, _ body: (Int, PackedValue) -> Void
  ) -> Bool {
    let remembered = time == .former ? row.old : row.new
    for (index, column) in columns.enumerated() {
      if column == storage.rowidColumn {
        body(index, .integer(row.rowid))
        continue
      }
      guard let field = storage.fields[column] else { return false }
      let isInKey = storage.isWithoutRowid && field < storage.table.layout.keyFieldCount
      guard let place = isInKey ? field : fields.firstIndex(of: field) else { return false }
      let isKnown = withFields(isInKey ? row.key : remembered) { stored in
        guard let value = stored.dropFirst(place).first(where: { _ in true }),
          let value = storage.value(value, column: column)
        else { return false }
        body(index, value)
        return true
      }
      if !isKnown { return false }
    }
    return true
  }

  /// Whether the table may have changed in these columns, or rows may have been inserted or deleted.
  package func meets(_ columns: ColumnMask) -> Bool { isUnknown || rows.contains { $0.meets(columns) } }

  /// A present or former record of a row, which is valid as long as the tick; nil if it is unknown.
  func record(_ range: Range<Int>) -> UnsafeRawBufferPointer? { range.isEmpty ? nil : records?.record(range) }
}

extension ChangedRows.Row {
  /// Whether the row may have changed in these columns, or was inserted or deleted.
  package func meets(_ columns: ColumnMask) -> Bool {
    self.columns == -1 || ColumnMask(rawValue: self.columns).intersects(columns)
  }
}
