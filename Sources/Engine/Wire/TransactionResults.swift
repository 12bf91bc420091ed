package import LiveQuery

extension JSONWriter {
  /// What a transaction did: members of `committed`, and of the answer to a request.
  package mutating func committed(_ committed: CommittedTransaction) {
    member("changes", committed.changes)
    name("commit")
    integer(committed.commit)
    guard let results = committed.results else { return }
    name("results")
    array { array in
      for result in results { array.write(result) }
    }
  }

  private mutating func write(_ result: StatementResult) {
    object { object in
      object.member("changes", result.changes)
      object.name("lastInsertRowid")
      object.value(result.lastInsertRowid.map { .integer($0) } ?? SQLValue.null)
      if result.columns.isEmpty { return }
      object.name("columns")
      object.array { array in
        for column in result.columns { array.string(column) }
      }
      object.name("rows")
      object.array { array in
        for row in result.rows {
          array.array { values in
            for value in row { values.value(value) }
          }
        }
      }
    }
  }
}
