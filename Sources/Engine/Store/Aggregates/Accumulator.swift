import LiveQuery
import RankedCollections

/// The state of one aggregate function call, to which values can be added and from which they can be taken out.
struct Accumulator {
  enum Function: Int64, Sendable {
    case count, sum, total, average, minimum, maximum
  }

  private enum State {
    case count(Int64)
    case sum(ExactSum)
    case extreme(Extremes)
  }

  private let function: Function
  private var state: State
  /// With DISTINCT, the number of times that each value occurs, by its encoding.
  private var distinct: [[UInt8]: DistinctValue]?

  private struct DistinctValue {
    var count: Int64
    var value: KeptValue
  }

  /// - Parameter encoding: the encoding of the database's text, because BINARY compares encoded bytes.
  init(_ function: Function, isDistinct: Bool, _ encoding: TextEncoding) {
    self.function = function
    switch function {
    case .count: state = .count(0)
    case .sum, .total, .average: state = .sum(ExactSum())
    case .minimum: state = .extreme(Extremes(isMaximum: false, encoding))
    case .maximum: state = .extreme(Extremes(isMaximum: true, encoding))
    }
    if isDistinct { distinct = [:] }
  }

  /// The number of values that it keeps.
  var keptValues: Int { distinct?.count ?? 0 }

  /// Whether the value depends on which of several equal values comes first.
  private(set) var isAmbiguous = false

  /// - Parameters:
  ///   - value: for sums, a number or NULL. Text is in UTF-8.
  ///   - sign: 1 to add the value, -1 to take it out.
  mutating func add(_ value: PackedValue, sign: Int64) {
    if case .null = value { return }
    guard distinct != nil else { return put(value, sign: sign) }
    var key: [UInt8] = []
    KeyEncoder.append(value, .identity, to: &key)
    guard var known = distinct![key] else {
      if sign < 0 { return isAmbiguous = true }
      distinct![key] = DistinctValue(count: sign, value: KeptValue(value))
      return put(value, sign: sign)
    }
    if function == .sum, !known.value.isSame(as: value) { isAmbiguous = true }
    known.count += sign
    distinct![key] = known.count == 0 ? nil : known
    // Takes out the value that was added: the given one is equal but may differ, as 1.0 differs from 1.
    if known.count == 0 { known.value.withPacked { put($0, sign: sign) } }
  }

  private mutating func put(_ value: PackedValue, sign: Int64) {
    switch state {
    case .count(let count): state = .count(count + sign)
    case .sum(var sum):
      // Now only the local variable references the sum, so that the sum is changed in place.
      state = .count(0)
      switch value {
      case .integer(let value): sum.add(value, sign: sign)
      case .real(let value): sum.add(value, sign: sign)
      default: isAmbiguous = true
      }
      state = .sum(sum)
    case .extreme(var extremes):
      state = .count(0)
      if !extremes.add(value, sign: sign) { isAmbiguous = true }
      state = .extreme(extremes)
    }
  }

  /// The value of the call; nil if the rows must be read to know it.
  var value: KeptValue? {
    get throws(IntegerOverflow) {
      if isAmbiguous { return nil }
      switch state {
      case .count(let count): return .integer(count)
      case .extreme(let extremes): return extremes.value
      case .sum(let sum): return try Accumulator.value(of: sum, function)
      }
    }
  }

  /// The error that SQLite reports if a sum of integers is too large for an integer.
  struct IntegerOverflow: Error {}

  static func value(of sum: ExactSum, _ function: Function) throws(IntegerOverflow) -> KeptValue {
    switch function {
    case .total: return sum.total.map { .real($0) } ?? .null
    case .average: return sum.average.map { .real($0) } ?? .null
    default:
      switch sum.sum {
      case .null: return .null
      case .integer(let value): return .integer(value)
      case .real(let value): return .real(value)
      case .overflow: throw IntegerOverflow()
      }
    }
  }
}

/// The least or greatest values of a group, each with the number of times that it occurs.
///
/// Several values are kept, so that the group need not be read again when the extreme itself is taken out.
struct Extremes {
  #if DEBUG
    private static let most = 2
  #else
    private static let most = 16
  #endif

  private struct Entry {
    var key: [UInt8]
    var value: KeptValue
    var count: Int64
  }

  private let order: FieldOrder
  private let encoding: TextEncoding
  /// The kept values, the extreme one first.
  private var entries: [Entry] = []
  /// Whether `entries` are all values of the group.
  private var isComplete = true

  /// - Parameter encoding: the encoding of the database's text, because SQLite compares the bytes, and UTF-8 and UTF-16
  ///   sort differently.
  init(isMaximum: Bool, _ encoding: TextEncoding) {
    order = FieldOrder(isDescending: isMaximum)
    self.encoding = encoding
  }

  /// The extreme value; nil if the group has values but none of them is kept.
  var value: KeptValue? { entries.first?.value ?? (isComplete ? .null : nil) }

  /// - Returns: false if the value equals a kept one but is not the same, or if a value is taken out that is not there.
  mutating func add(_ value: PackedValue, sign: Int64) -> Bool {
    let key = key(of: value)
    let place = place(of: key)
    if place < entries.count, entries[place].key == key {
      entries[place].count += sign
      let isSame = entries[place].value.isSame(as: value)
      if entries[place].count == 0 { entries.remove(at: place) }
      return isSame
    }
    if place == entries.count, !isComplete { return true }
    if sign < 0 { return false }
    entries.insert(Entry(key: key, value: KeptValue(value), count: sign), at: place)
    if entries.count > Self.most {
      entries.removeLast()
      isComplete = false
    }
    return true
  }

  /// - Parameter value: a value with text in UTF-8.
  private func key(of value: PackedValue) -> [UInt8] {
    var key: [UInt8] = []
    if encoding != .utf8, case .text(let text) = value {
      let stored = encoding.bytes(of: String(decoding: text, as: UTF8.self))
      stored.withUnsafeBytes { KeyEncoder.append(.text($0), order, to: &key) }
    } else {
      KeyEncoder.append(value, order, to: &key)
    }
    return key
  }

  private func place(of key: [UInt8]) -> Int {
    var low = 0
    var high = entries.count
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].key.lexicographicallyPrecedes(key) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
