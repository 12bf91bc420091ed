import LiveQuery

/// How an aggregate is kept up to date by arithmetic: what its groups keep, and the statements that fill the groups,
/// change them and turn them into rows.
///
/// FROM and WHERE are evaluated over every changed row as it was, with the sign -1, and as it is, with the sign 1. Each
/// row that they give has the values of its group and the arguments of all calls. An aggregate without GROUP BY is one
/// group with the value 1, which exists even without rows.
package final class AggregatePlan: Sendable {
  /// A call of an aggregate function.
  package struct Call: Sendable, Equatable {
    package enum Function: Sendable { case count, sum, total, average, minimum, maximum }

    package var function: Function
    package var isDistinct: Bool

    package init(_ function: Function, isDistinct: Bool) {
      self.function = function
      self.isDistinct = isDistinct
    }

    /// Whether the call's value depends on the order of rows if both 1 and 1.0 are among its values. The other calls
    /// return a number of values, or a real.
    package var showsOneOfEqualValues: Bool {
      switch function {
      case .minimum, .maximum: true
      case .sum: isDistinct
      case .count, .total, .average: false
      }
    }
  }

  /// A statement over changed rows. Its columns are the row's sign, the values of its group, and the arguments of the
  /// calls.
  package struct Signed: Sendable {
    /// Indexes of the query's tables that the statement replaces by their changed rows.
    package var tables: [Int]
    /// The number of places in FROM where tables are replaced.
    package var places: Int
    package var sql: String
    /// Whether the result is right only if no other table has changed.
    package var isAlone: Bool

    package init(tables: [Int], places: Int, sql: String, isAlone: Bool = false) {
      self.tables = tables
      self.places = places
      self.sql = sql
      self.isAlone = isAlone
    }
  }

  /// Statements for the rows under the groups, for aggregates whose changes lead to units that are looked up, instead
  /// of rows with signs. Their columns are the unit, the values of its group, and the arguments of the calls.
  package struct Rows: Sendable {
    package let allSQL: String
    /// The statement for the unit whose values are the parameters from `firstParameter` on.
    package let unitSQL: String
    package let firstParameter: Int32
    /// How the unit's values are encoded.
    package let orders: [FieldOrder]

    package init(allSQL: String, unitSQL: String, firstParameter: Int32, orders: [FieldOrder]) {
      self.allSQL = allSQL
      self.unitSQL = unitSQL
      self.firstParameter = firstParameter
      self.orders = orders
    }
  }

  package let calls: [Call]
  /// The number of values of a group.
  package let groupCount: Int
  package let isWhole: Bool
  /// Reads all groups. Columns: the values, `count(*)`, for each call the number of its accumulator, and whether the
  /// group has values that are equal but not the same.
  package let statesSQL: String
  /// As above, for the group whose values are the parameters from `firstParameter` on.
  package let unitStatesSQL: String
  package let firstParameter: Int32
  /// The parameter for the shelf of accumulators.
  package let shelfParameter: Int32
  package let signed: [Signed]
  /// Statements for the rows under the groups. If nil, `signed` evaluates changed rows with their signs.
  package let rows: Rows?
  /// Indexes of the tables whose changes the statements in `signed` follow.
  package let added: Set<Int>
  /// Tables that `signed` follows only in ticks in which no second table changed.
  private let alone: Set<Int>
  /// The most places of FROM that `signed` replaces at once, and the number of places of each table that it can
  /// replace.
  private let mostPlaces: Int
  private let places: [Int: Int]
  /// Declarations of the columns of the virtual table of groups: first the values, then the calls.
  package let groupColumns: String
  /// The SQL that makes the result's rows of that table: `select` precedes the table's name, and `condition` follows
  /// it.
  package let select: String
  package let condition: String
  /// Whether SQLite may read the rows of a group in another order when it reads the group alone, and the result shows
  /// this. A group that has both 1 and 1.0 is then not looked up.
  let dependsOnOrder: Bool

  package init(
    calls: [Call], groupCount: Int, isWhole: Bool, statesSQL: String, unitStatesSQL: String, firstParameter: Int32,
    shelfParameter: Int32, signed: [Signed], rows: Rows?, groupColumns: String, select: String, condition: String,
    dependsOnOrder: Bool
  ) {
    self.calls = calls
    self.groupCount = groupCount
    self.isWhole = isWhole
    self.statesSQL = statesSQL
    self.unitStatesSQL = unitStatesSQL
    self.firstParameter = firstParameter
    self.shelfParameter = shelfParameter
    self.signed = signed
    self.rows = rows
    added = Set(signed.flatMap(\.tables))
    mostPlaces = signed.map(\.places).max() ?? 0
    let single = signed.filter { $0.places == 1 && !$0.isAlone }.flatMap(\.tables)
    places = Dictionary(single.map { ($0, 1) }, uniquingKeysWith: +)
    alone = Set(signed.filter(\.isAlone).flatMap(\.tables))
    self.groupColumns = groupColumns
    self.select = select
    self.condition = condition
    self.dependsOnOrder = dependsOnOrder
  }

  /// Whether the statements can follow changes of all these tables in one tick.
  func tells(changesOf tables: [Int]) -> Bool {
    if tables.count > 1, !alone.isDisjoint(with: tables) { return false }
    return tables.reduce(0) { $0 + (places[$1] ?? 0) } <= mostPlaces
  }

  /// Names of the columns of the table of groups, and of the function that converts an argument to a number.
  package static func groupColumn(_ index: Int) -> String { "\(ReservedNames.prefix)group_\(index)" }
  package static func callColumn(_ index: Int) -> String { "\(ReservedNames.prefix)call_\(index)" }
  package static let number = AggregateFunctions.number
  /// A call that gives the number of an accumulator on the shelf.
  package static func accumulator(_ call: Call, _ argument: String, shelf: Int) -> String {
    "\(AggregateFunctions.accumulate)(?\(shelf), \(call.accumulated.rawValue), \(call.isDistinct ? 1 : 0), \(argument))"
  }
}

extension AggregatePlan.Call {
  var accumulated: Accumulator.Function {
    switch function {
    case .count: .count
    case .sum: .sum
    case .total: .total
    case .average: .average
    case .minimum: .minimum
    case .maximum: .maximum
    }
  }

  func empty(_ encoding: TextEncoding) -> Accumulator { Accumulator(accumulated, isDistinct: isDistinct, encoding) }
}
