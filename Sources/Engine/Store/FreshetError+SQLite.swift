import CSQLite
package import LiveQuery

extension FreshetError {
  /// Converts SQLite's error in a client's SQL to an error with the code that fits.
  package init(queryFailure error: SQLiteFailure, place: String?) {
    let message = (place.map { "\($0): " } ?? "") + error.message
    if error.message.hasPrefix("no such table") {
      self.init(.noSuchTable, message)
    } else if error.message.hasPrefix("no such column") {
      self.init(.noSuchColumn, message)
    } else if let spent = Budget.failure(error) {
      self = spent
    } else if error.primaryCode == SQLITE_INTERRUPT {
      self.init(.timeout, "the query took longer than it may")
    } else if error.primaryCode == SQLITE_TOOBIG {
      self.init(.tooLarge, message)
    } else if error.primaryCode == SQLITE_NOMEM {
      self.init(.tooLarge, "the query takes more memory than it may")
    } else if error.isLock {
      self.init(.overloaded, message)
    } else if error.primaryCode == SQLITE_ERROR || error.primaryCode == SQLITE_MISMATCH {
      self.init(.badQuery, message)
    } else {
      self.init(.internal, message)
    }
  }

  /// The error if no connection can read the file, with SQLite's reason if there is one, such as locked or damaged.
  package init(unreadable error: any Error) {
    let reason = (error as? SQLiteFailure)?.message
    let told = error as? FreshetError
    self = told ?? .init(.overloaded, "the database cannot be read at the moment" + (reason.map { ": \($0)" } ?? ""))
  }

  package static func badQuery(_ message: String) -> FreshetError { FreshetError(.badQuery, message) }
}
