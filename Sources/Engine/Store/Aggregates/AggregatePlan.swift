import LiveQuery

/// How an aggregate is kept up to date by arithmetic: what its groups keep, and the statements that fill them, change
/// them and make rows of them.
///
/// Every changed row is evaluated as it was, with the sign -1, and as it is: each such row of FROM and WHERE gives the
/// values of its group and the arguments of all calls. An aggregate over everything is one group whose value is 1,
/// which is there without rows too.
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

    /// Whether 1 and 1.0 among its values make it depend on which comes first. The other calls give a number of values,
    /// or a real.
    package var showsOneOfEqualValues: Bool {
      switch function {
      case .minimum, .maximum: true
      case .sum: isDistinct
      case .count, .total, .average: false
      }
    }
  }

  /// A statement over changed rows. Its columns: the row's sign, the values of its group, the arguments of the calls.
  package struct Signed: Sendable {
    /// Indexes of the query's tables in whose place their changed rows stand.
    package var tables: [Int]
    /// How many places of FROM these are.
    package var places: Int
    package var sql: String
    /// Whether it is right only where no other of the tables has changed.
    package var isAlone: Bool

    package init(tables: [Int], places: Int, sql: String, isAlone: Bool = false) {
      self.tables = tables
      self.places = places
      self.sql = sql
      self.isAlone = isAlone
    }
  }

  /// Statements for the rows under the groups, where changes lead to units that are looked up, and not to rows with
  /// signs. Their columns: the unit, the values of its group, the arguments of the calls.
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
  /// How many values a group has.
  package let groupCount: Int
  package let isWhole: Bool
  /// All groups as they are. Columns: the values, `count(*)`, for each call its accumulator's number, and whether rows
  /// of the group have values of it that are equal and not the same.
  package let statesSQL: String
  /// As above, for the group whose values are the parameters from `firstParameter` on.
  package let unitStatesSQL: String
  package let firstParameter: Int32
  /// The parameter for the shelf of accumulators.
  package let shelfParameter: Int32
  package let signed: [Signed]
  /// Nil: changed rows are evaluated with their signs, by `signed`.
  package let rows: Rows?
  /// Indexes of the tables whose changes they follow.
  package let added: Set<Int>
  /// Tables whose changes must not come together with those of a second table.
  private let alone: Set<Int>
  /// In how many places of FROM changed rows may stand at once, and by table, its places that are followed so.
  private let mostPlaces: Int
  private let places: [Int: Int]
  /// The columns of the virtual table of groups, declared: values, then calls.
  package let groupColumns: String
  /// The rows of the result, over that table: what stands before its name, and behind it.
  package let select: String
  package let condition: String
  /// Whether SQLite may come by the rows of a group in another order when it reads the group alone, and whether that
  /// shows: a group with 1 and 1.0 in it is then not looked up.
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

  /// Whether its statements tell what changed rows of all these tables make together.
  func tells(changesOf tables: [Int]) -> Bool {
    if tables.count > 1, !alone.isDisjoint(with: tables) { return false }
    return tables.reduce(0) { $0 + (places[$1] ?? 0) } <= mostPlaces
  }

  /// Names of the columns of the table of groups, and of what makes an argument a number.
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
