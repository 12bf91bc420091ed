import CSQLite

// The tables that a capture follows, and its memory of them.
extension ChangeCapture {
  /// Follows a table from the state seen last on, or remembers more of a table that is already followed.
  ///
  /// - Parameters:
  ///   - fields: the record fields whose values are needed even after a row is deleted.
  ///   - records: which records of changed rows ticks contain.
  /// - Returns: the number that stands for the table in ticks.
  package func follow(
    _ table: CapturedTable, remembering fields: [Int], keeping records: KeptRecords = .none
  ) -> Int {
    locked {
      let isNew = file.table(named: table.name) == nil
      let followed = file.add(table, remembering: fields, keeping: records)
      let number = followed.number
      cursor.wishes[number] = Set(cursor.wishes[number] ?? []).union(fields).sorted()
      if isNew, isBehind {
        // Another capture has advanced to a later state, in which the table may have been altered.
        followed.undefine()
        cursor.unknown.insert(number)
        mustDefine = true
      }
      return ownNumber(number)
    }
  }

  /// Whether other captures have advanced to a newer state than this one.
  package var isBehind: Bool { locked { !file.seen.isUnknown && !seen.isSame(as: file.seen) } }

  /// Advances to the state that other captures have reached. A state can be kept only if this capture has taken all
  /// changes that the shared memory has.
  ///
  /// - Parameter tick: advances to the newest state. It is called a few times, because other captures may advance
  ///   during a call.
  package func catchUp(_ tick: () throws -> Void) rethrows {
    for _ in 0..<8 where isBehind { try tick() }
  }

  /// Reads the definitions of tables in the state that the last tick reached, if that tick reported a schema change.
  ///
  /// - Parameter table: returns a table of that schema by its name; nil: no such table.
  package func define(_ table: (String) -> CapturedTable?) {
    locked {
      if isBehind { return }
      mustDefine = false
      for number in cursor.wishes.keys {
        if let followed = file.tables[number], followed.isUndefined { followed.describe(table(followed.name)) }
      }
    }
  }

  /// Has ticks contain the present and former records of all followed tables.
  package func keepAllRecords() {
    locked { for number in cursor.wishes.keys { file.tables[number].map { file.keep(.all, of: $0) } } }
  }

  /// Forgets a table.
  package func unfollow(_ number: Int) {
    locked {
      let number = sharedNumber(number)
      cursor.wishes[number] = nil
      file.unfollow(number)
    }
  }

  func ownNumber(_ number: Int) -> Int { ownNumbers.isEmpty ? number : ownNumbers[number] ?? number }

  private func sharedNumber(_ number: Int) -> Int {
    ownNumbers.isEmpty ? number : ownNumbers.first { $0.value == number }?.key ?? number
  }

  /// How changes of a table are found, or would be if it were followed.
  package func form(ofTable name: String) -> CaptureForm {
    let form = locked {
      file.table(named: name).flatMap { cursor.wishes[$0.number] == nil ? nil : $0.form }
    }
    switch seen {
    case .wal: return form ?? .rows
    case .journal: return form == .reading || form == CaptureForm.none ? form! : .comparison
    case .hidden, .unknown: return .none
    }
  }

  /// The tables that are followed.
  package var numbers: [Int] { locked { cursor.wishes.keys.map(ownNumber) } }

  package var tableCount: Int { locked { cursor.wishes.count } }

  /// The name of a table that is followed.
  package func name(of number: Int) -> String? { locked { file.tables[sharedNumber(number)]?.name } }

  /// Counters since the start. Only one of the captures that share the memory of the tables counts it.
  package var statistics: CaptureStatistics {
    locked {
      var result = file.ticks.isFirst(cursor) ? file.statistics : CaptureStatistics()
      result.retries = retries
      return result
    }
  }

  /// The state for the next process; nil if there is nothing to keep, or if other captures have advanced to another
  /// state.
  func kept() -> (schemaCookie: UInt32, tables: [CaptureState.Table])? {
    locked {
      if isBehind || seen.isUnknown || !file.canBeKept { return nil }
      return file.schemaCookie.map {
        ($0, cursor.wishes.keys.sorted().compactMap { file.tables[$0].flatMap(CaptureState.Table.init) })
      }
    }
  }

  /// Called when the connection shows other contents than the file has now. Connections opened from now on share no
  /// memory with the open ones.
  package func noteStale() { locked { file.isStale = true } }

  /// Whether there are tables that were not read whole yet.
  package var isReading: Bool {
    locked { cursor.wishes.keys.contains { file.tables[$0]?.form == .reading } }
  }

  /// Reads more pages of tables that were not read whole yet. To be called in the transaction, after `advance`.
  ///
  /// - Returns: whether pages are left to read. False if another capture has advanced to another state.
  package func readOn() -> Bool {
    // An error may have ended the transaction, and later reads would then see another state.
    guard seen.canBeRead, sqlite3_get_autocommit(connection) == 0 else { return false }
    return locked {
      if isBehind || !isReading { return false }
      file.use(self)
      file.readOn(limit: settings.pagesAtOnce)
      return isReading
    }
  }
}
