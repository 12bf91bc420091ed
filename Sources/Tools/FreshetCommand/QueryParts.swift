import ArgumentParser
import TerminalWatch

/// The parts of a query that have an option of their own; they go before what the query's JSON says.
struct QueryParts: ParsableArguments {
  @Option(help: ArgumentHelp("The value of a parameter; can be repeated.", valueName: "name=value"))
  var param: [String] = []

  @Option(help: ArgumentHelp("Expressions to show, separated by commas; can be repeated.", valueName: "list"))
  var select: [String] = []

  @Option(help: ArgumentHelp("The condition that rows meet.", valueName: "condition"))
  var `where`: String?

  @Option(help: ArgumentHelp("What to sort by, separated by commas; can be repeated.", valueName: "list"))
  var orderBy: [String] = []

  @Option(help: ArgumentHelp("The expression whose values are the sections.", valueName: "expression"))
  var sectionBy: String?

  @Option(
    help: ArgumentHelp(
      "An aggregate of the rows, for the list and for each section; can be repeated.", valueName: "name=expression"))
  var total: [String] = []

  /// - Parameter query: JSON, or what to select from.
  /// - Parameter name: of a published query, instead.
  func query(_ query: String?, name: String? = nil) throws -> WatchQuery {
    var watched = WatchQuery()
    watched.query = query
    watched.name = name
    watched.parameters = param
    watched.select = select
    watched.filter = `where`
    watched.orderBy = orderBy
    watched.sectionBy = sectionBy
    watched.totals = total
    do { _ = try watched.json() } catch { throw ValidationError("\(error).") }
    return watched
  }
}
