package import LiveQuery

extension JSONWriter {
  /// Writes the outcome of a transaction: the members of `committed`, and of the answer to a request.
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

extension CommittedTransaction {
  /// Reads the output of `JSONWriter.committed`.
  package init(_ json: JSONValue) throws(FreshetError) {
    let results = try json.list("results") { (value) throws(FreshetError) in try StatementResult(value) }
    self.init(results, commit: Int64(try json.required("commit").count()))
    changes = try json["changes"]?.count() ?? changes
    if json["results"] == nil { self.results = nil }
  }
}

extension StatementResult {
  fileprivate init(_ json: JSONValue) throws(FreshetError) {
    self.init(changes: try json.required("changes").count(), lastInsertRowid: nil)
    if let rowid = json["lastInsertRowid"],
      case .integer(let value) = try SQLValue(json: rowid, what: "lastInsertRowid")
    {
      lastInsertRowid = value
    }
    columns = try json.list("columns") { (value) throws(FreshetError) in try value.text() }
    rows = try json.list("rows") { [count = columns.count] (row) throws(FreshetError) in
      let values = try row.elements { (value) throws(FreshetError) in try SQLValue(json: value, what: "a value") }
      guard values.count == count else { throw .unreadable("a row of \(values.count) values in \(count) columns") }
      return values
    }
  }
}
