import ArgumentParser
import TerminalWatch

/// The parts of a query that have an option of their own; they override the query's JSON.
struct QueryParts: ParsableArguments {
  @Option(help: ArgumentHelp("A whole SELECT, instead of a query given as an argument.", valueName: "select"))
  var sql: String?

  @Option(help: ArgumentHelp("The value of a parameter; can be repeated.", valueName: "name=value"))
  var param: [String] = []

  @Option(help: ArgumentHelp("Expressions to show, separated by commas; can be repeated.", valueName: "list"))
  var select: [String] = []

  @Option(help: ArgumentHelp("The condition that rows meet.", valueName: "condition"))
  var `where`: String?

  @Option(help: ArgumentHelp("Group terms, separated by commas; can be repeated.", valueName: "list"))
  var groupBy: [String] = []

  @Option(help: ArgumentHelp("The condition that groups meet.", valueName: "condition"))
  var having: String?

  @Option(help: ArgumentHelp("Sort terms, separated by commas; can be repeated.", valueName: "list"))
  var orderBy: [String] = []

  @Option(help: ArgumentHelp("The expression whose values are the sections.", valueName: "expression"))
  var sectionBy: String?

  @Option(
    help: ArgumentHelp(
      "Columns that identify a row, separated by commas; can be repeated. (default: the primary key)",
      valueName: "list"))
  var key: [String] = []

  @Option(help: ArgumentHelp("How many rows the list has at most: the first ones, as it is sorted.", valueName: "rows"))
  var top: Int?

  @Option(
    help: ArgumentHelp("Run a query that changes with time, or with other files, so often.", valueName: "seconds"))
  var refreshEvery: Double?

  @Option(
    help: ArgumentHelp(
      "An aggregate of the rows, for the list and for each section; can be repeated.", valueName: "name=expression"))
  var total: [String] = []

  @Option(
    help: ArgumentHelp("A value that is shown with the list; can be repeated.", valueName: "name=select"))
  var alongside: [String] = []

  /// - Parameter query: JSON, a SELECT, or a table's name.
  /// - Parameter name: the name of a published query, in place of `query`.
  func query(_ query: String?, name: String? = nil) throws -> WatchQuery {
    var watched = WatchQuery()
    watched.query = query
    watched.sql = sql
    watched.name = name
    watched.parameters = param
    watched.select = select
    watched.filter = `where`
    watched.groupBy = groupBy
    watched.having = having
    watched.orderBy = orderBy
    watched.sectionBy = sectionBy
    watched.key = key
    watched.top = top
    watched.refreshEvery = refreshEvery
    watched.totals = total
    watched.alongside = alongside
    do { _ = try watched.json() } catch { throw ValidationError("\(error).") }
    return watched
  }
}
