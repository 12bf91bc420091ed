import CSQLite
import LiveQuery

/// Aggregate functions that replace SQLite's own, and functions that only Freshet's statements call.
///
/// `sum`, `total` and `avg` round once, from the exact sum. So a run, a look-up and an increment agree to the bit,
/// whatever the order of the rows. For integers, results and the error on overflow are those of SQLite.
enum AggregateFunctions {
  /// An aggregate that makes an accumulator of a group's values: `accumulate(shelf, function, isDistinct, value)`,
  /// where `shelf` is bound as a pointer. It returns the accumulator's number on the shelf.
  static let accumulate = ReservedNames.prefix + "accumulate"
  /// A function that converts a value as `sum` does: to an integer, a real, or NULL.
  static let number = ReservedNames.prefix + "number"

  /// - Returns: a result code.
  static func install(on connection: OpaquePointer) -> Int32 {
    let flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | 0x20_0000  // SQLITE_INNOCUOUS, which is unsigned.
    for (name, function) in [("sum", Sum.sum), ("total", Sum.total), ("avg", Sum.average)] {
      let code = sqlite3_create_window_function(
        connection, name, 1, flags, nil, { Sum.step($0, $2, sign: 1) }, function.final, function.value,
        { Sum.step($0, $2, sign: -1) }, nil)
      if code != SQLITE_OK { return code }
    }
    let code = sqlite3_create_function_v2(
      connection, accumulate, 4, SQLITE_UTF8, nil, nil, { AccumulatorShelf.step($0, $2) },
      { AccumulatorShelf.finish($0) }, nil)
    if code != SQLITE_OK { return code }
    return sqlite3_create_function_v2(
      connection, number, 1, flags, nil,
      { context, _, values in
        guard let value = values?[0] else { return }
        switch sqlite3_value_numeric_type(value) {
        case SQLITE_NULL: sqlite3_result_null(context)
        case SQLITE_INTEGER: sqlite3_result_int64(context, sqlite3_value_int64(value))
        default: sqlite3_result_double(context, sqlite3_value_double(value))
        }
      }, nil, nil, nil)
  }
}

/// An object that SQLite keeps for one call of an aggregate function.
private protocol AggregateContext: AnyObject {}

extension AggregateContext {
  /// The call's object; nil if there was no row and `make` is nil, or if there is no memory.
  ///
  /// - Parameter make: makes the object for the first row.
  static func current(_ context: OpaquePointer?, _ make: (() -> Self)? = nil) -> Self? {
    guard let memory = sqlite3_aggregate_context(context, make == nil ? 0 : Int32(MemoryLayout<UInt>.size)) else {
      return nil
    }
    let place = memory.assumingMemoryBound(to: UnsafeRawPointer?.self)
    if let known = place.pointee { return Unmanaged<Self>.fromOpaque(known).takeUnretainedValue() }
    guard let made = make?() else { return nil }
    place.pointee = UnsafeRawPointer(Unmanaged.passRetained(made).toOpaque())
    return made
  }

  /// Releases the call's object. SQLite calls this at the end of every call, even if the statement fails.
  static func release(_ context: OpaquePointer?) {
    guard let memory = sqlite3_aggregate_context(context, 0) else { return }
    let place = memory.assumingMemoryBound(to: UnsafeRawPointer?.self)
    if let known = place.pointee { Unmanaged<Self>.fromOpaque(known).release() }
    place.pointee = nil
  }
}

/// `sum`, `total` and `avg`.
private final class Sum: AggregateContext {
  @exclusivity(unchecked) var sum = ExactSum()

  typealias Functions = (
    final: @convention(c) (OpaquePointer?) -> Void, value: @convention(c) (OpaquePointer?) -> Void
  )

  static var sum: Functions { ({ Sum.give($0, .sum, isLast: true) }, { Sum.give($0, .sum, isLast: false) }) }
  static var total: Functions { ({ Sum.give($0, .total, isLast: true) }, { Sum.give($0, .total, isLast: false) }) }
  static var average: Functions {
    ({ Sum.give($0, .average, isLast: true) }, { Sum.give($0, .average, isLast: false) })
  }

  static func step(_ context: OpaquePointer?, _ values: UnsafeMutablePointer<OpaquePointer?>?, sign: Int64) {
    guard let value = values?[0] else { return }
    let type = sqlite3_value_numeric_type(value)
    if type == SQLITE_NULL { return }
    guard let sum = current(context, { Sum() }) else { return sqlite3_result_error_nomem(context) }
    if type == SQLITE_INTEGER {
      sum.sum.add(sqlite3_value_int64(value), sign: sign)
    } else {
      sum.sum.add(sqlite3_value_double(value), sign: sign)
    }
  }

  static func give(_ context: OpaquePointer?, _ function: Accumulator.Function, isLast: Bool) {
    let sum = current(context)?.sum ?? ExactSum()
    do throws(Accumulator.IntegerOverflow) {
      switch try Accumulator.value(of: sum, function) {
      case .integer(let value): sqlite3_result_int64(context, value)
      case .real(let value): sqlite3_result_double(context, value)
      default: sqlite3_result_null(context)
      }
    } catch { sqlite3_result_error(context, "integer overflow", -1) }
    if isLast { release(context) }
  }
}

/// Receives the accumulators of the group in a statement's current row.
///
/// Owner: the thread of the connection.
final class AccumulatorShelf {
  @exclusivity(unchecked) private var accumulators: [Accumulator] = []
  private let encoding: TextEncoding

  /// - Parameter encoding: the encoding of the database's text.
  init(_ encoding: TextEncoding) { self.encoding = encoding }

  /// The type name of the bound pointer. SQLite compares names of such types.
  private static let type: StaticString = "freshet accumulators"
  private static var typeName: UnsafePointer<CChar> {
    UnsafeRawPointer(type.utf8Start).assumingMemoryBound(to: CChar.self)
  }

  /// Binds the shelf to a statement before it runs. The shelf must not be released before the statement was reset.
  func bind(to statement: PreparedStatement, at index: Int32) {
    sqlite3_bind_pointer(statement.handle, index, Unmanaged.passUnretained(self).toOpaque(), Self.typeName, nil)
  }

  /// The accumulator with a number, for the statement's current row; nil if the group has no rows.
  func accumulator(_ number: PackedValue) -> Accumulator? {
    guard case .integer(let number) = number, accumulators.indices.contains(Int(number)) else { return nil }
    return accumulators[Int(number)]
  }

  /// Removes all accumulators. To be called after each row was read.
  func removeAll() { accumulators.removeAll(keepingCapacity: true) }

  private final class Context: AggregateContext {
    let shelf: AccumulatorShelf
    @exclusivity(unchecked) var accumulator: Accumulator

    init(_ shelf: AccumulatorShelf, _ accumulator: Accumulator) {
      self.shelf = shelf
      self.accumulator = accumulator
    }
  }

  static func step(_ context: OpaquePointer?, _ values: UnsafeMutablePointer<OpaquePointer?>?) {
    guard let values, let value = values[3] else { return }
    let made = Context.current(context) {
      let shelf = Unmanaged<AccumulatorShelf>.fromOpaque(sqlite3_value_pointer(values[0], typeName))
        .takeUnretainedValue()
      let function = Accumulator.Function(rawValue: sqlite3_value_int64(values[1])) ?? .count
      return Context(shelf, Accumulator(function, isDistinct: sqlite3_value_int(values[2]) != 0, shelf.encoding))
    }
    guard let made else { return sqlite3_result_error_nomem(context) }
    made.accumulator.add(PreparedStatement.value(value), sign: 1)
  }

  static func finish(_ context: OpaquePointer?) {
    guard let known = Context.current(context) else { return sqlite3_result_null(context) }
    sqlite3_result_int64(context, Int64(known.shelf.accumulators.count))
    known.shelf.accumulators.append(known.accumulator)
    Context.release(context)
  }
}
