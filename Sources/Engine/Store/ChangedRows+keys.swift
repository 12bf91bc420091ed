package import ChangeCapture
package import LiveQuery

/// The changes of the row, or rows, of a key.
package struct KeyChange {
  /// Columns that may have changed; all where a row came or went, or has another key.
  package let columns: ColumnMask
  /// Whether a row had the key, and whether one has it now.
  package let wasThere: Bool
  package let isThere: Bool
  /// Several rows may have a key that holds a NULL.
  package let hasNull: Bool
}

// Changed rows, for callers that know how the table's rows are stored.
extension ChangedRows {
  /// Calls `body` with the encoded key of each row, and with both keys if the key changed. A key comes twice if one row
  /// left it and another one has it now.
  ///
  /// - Returns: false when a key is not known, or as soon as `body` does.
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
        // The key's columns are remembered among others; an update may have changed them, which makes a different row.
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

  /// - Returns: whether the key holds a NULL; nil: it is not known.
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

  /// Calls `body` with the values of a row's key as they were stored, and their places in the key; where it has no key
  /// of its own, as they were before. An encoded key does not tell them: 3.0 and 3 are one key, and `typeof`
  /// distinguishes them.
  ///
  /// - Returns: false when one of them is not known.
  package func forEachKeyValue(of row: Row, in storage: TableStorage, _ body: (Int, PackedValue) -> Void) -> Bool {
    guard let columns = storage.keyColumns else {
      body(0, .integer(row.rowid))
      return true
    }
    return forEachValue(of: row, .former, columns: columns, in: storage, body)
  }

  package enum Time { case former, present }

  /// Calls `body` with the values of columns and the places of these in `columns`; text is in the database's own
  /// encoding.
  ///
  /// - Returns: false when one of them is not known.
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

  /// Whether a row may have changed in these columns, or may have come or gone.
  package func meets(_ columns: ColumnMask) -> Bool { isUnknown || rows.contains { $0.meets(columns) } }

  /// The present record of a row, or the former one, for as long as the tick lasts; nil: it is not known.
  func record(_ range: Range<Int>) -> UnsafeRawBufferPointer? { range.isEmpty ? nil : records?.record(range) }
}

extension ChangedRows.Row {
  /// Whether it may have changed in these columns, or came or went.
  package func meets(_ columns: ColumnMask) -> Bool {
    self.columns == -1 || ColumnMask(rawValue: self.columns).intersects(columns)
  }
}
