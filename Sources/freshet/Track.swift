import ArgumentParser
import Store

struct Track: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Install the change capture in a database.",
    discussion: """
      Triggers write which rows change into one table that bounds its own length. Every writer counts, in any process and \
      language, also while no server runs. Safe to repeat: it brings what is there up to date. `freshet untrack` removes \
      every trace.

      With a table named, that one alone is tracked, besides those tracked before. With none, all are, and those made later \
      when this runs again or a server with --track sees them.

      SQLite refuses to drop a column of a tracked table ("error in trigger _freshet_…"): use `freshet alter`.
      """)

  @Argument(help: ArgumentHelp("The SQLite file.", valueName: "db"))
  var database: String

  @Argument(help: ArgumentHelp("The tables to track; all when none is named.", valueName: "table"))
  var tables: [String] = []

  func run() throws {
    let path = try DatabaseFile.existing(database)
    for table in try DatabaseFile.track(path, tables: tables.isEmpty ? nil : tables) {
      print("tracking \(table.name)")
    }
  }
}

struct Untrack: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Remove the change capture from a database.",
    discussion: "Afterwards the schema is what it was before `freshet track`, byte for byte.")

  @Argument(help: ArgumentHelp("The SQLite file.", valueName: "db"))
  var database: String

  func run() throws {
    try DatabaseFile.untrack(try DatabaseFile.existing(database))
  }
}
