import ArgumentParser
import Store

struct Alter: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Change the schema of a tracked database.",
    discussion: """
      SQLite refuses ALTER TABLE … DROP COLUMN on a tracked table ("error in trigger _freshet_… after drop column"), because \
      the triggers that tell which columns change name them all. This command takes the triggers away, runs the SQL and \
      installs them again, in one transaction: all of it happens, or nothing. Tracked tables stay tracked, also under \
      new names; live queries go on where they still can.

      Other changes of the schema need no help: ADD COLUMN, RENAME, CREATE and DROP work as they always do, and `freshet \
      track` (or a server started with --track) takes note of them.

      Foreign keys are not enforced while the statements run; they are checked at the end.
      """)

  @Argument(help: ArgumentHelp("The SQLite file.", valueName: "db"))
  var database: String

  @Argument(help: ArgumentHelp("One or more statements, separated by semicolons.", valueName: "sql"))
  var sql: String

  func run() throws {
    try DatabaseFile.alter(try DatabaseFile.existing(database), sql: sql)
  }
}
