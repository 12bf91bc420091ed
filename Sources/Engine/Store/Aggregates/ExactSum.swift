/// A sum of integers and reals without rounding, so that values can be taken out again in any order.
///
/// SQLite adds reals in the order in which it reads the rows, and an increment cannot repeat this order. This sum
/// rounds only when its value is read.
struct ExactSum {
  /// The number of values other than NULL.
  private(set) var count: Int64 = 0
  /// The number of values that are reals.
  private var realCount: Int64 = 0
  private var integers: Int128 = 0
  /// The sum of the finite reals; nil until there is one.
  private var reals: FixedPointSum?
  private var positiveInfinities: Int64 = 0
  private var negativeInfinities: Int64 = 0

  /// - Parameter sign: 1 to add the value, -1 to take it out.
  mutating func add(_ value: Int64, sign: Int64) {
    count += sign
    integers += Int128(sign) * Int128(value)
  }

  mutating func add(_ value: Double, sign: Int64) {
    count += sign
    realCount += sign
    if value == .infinity { return positiveInfinities += sign }
    if value == -.infinity { return negativeInfinities += sign }
    if reals == nil { reals = FixedPointSum() }
    reals!.add(sign < 0 ? -value : value)
  }

  enum Value: Equatable {
    case null
    case integer(Int64)
    case real(Double)
    /// All inputs were integers, but their sum overflows.
    case overflow
  }

  /// The result of `sum`.
  var sum: Value {
    if count == 0 { return .null }
    if realCount == 0 { return Int64(exactly: integers).map { .integer($0) } ?? .overflow }
    return quotient(by: 1).map { .real($0) } ?? .null
  }

  /// The result of `total`. Nil stands for NULL, the result of infinity minus infinity.
  var total: Double? { count == 0 ? 0 : quotient(by: 1) }

  /// The result of `avg`.
  var average: Double? { count == 0 ? nil : quotient(by: UInt64(count)) }

  /// The sum divided by a number, rounded once.
  private func quotient(by divisor: UInt64) -> Double? {
    if positiveInfinities > 0 { return negativeInfinities > 0 ? nil : .infinity }
    if negativeInfinities > 0 { return -.infinity }
    // A double can hold both numbers, so the quotient is rounded once, as SQLite rounds it.
    if realCount == 0, integers.magnitude <= 1 << 53, divisor <= 1 << 53 { return Double(integers) / Double(divisor) }
    var whole = reals ?? FixedPointSum()
    whole.add(integers)
    return whole.rounded(dividedBy: divisor)
  }
}

/// A sum of doubles as one number that has a bit for each power of two that a double can have, from 2^-1074 up.
///
/// Its digits are 32 bits wide, in words of 64 bits, so carries are propagated only after 2^30 additions and when the
/// sum is read.
struct FixedPointSum {
  private static let lowestExponent = -1_074
  /// Doubles reach 2^1024, so sums of 2^63 doubles reach 2^1087.
  private static let digitCount = (1_087 - lowestExponent) / 32 + 2
  private static let mostAdditions = 1 << 29

  private var digits = [Int64](repeating: 0, count: digitCount)
  private var additions = 0

  /// - Parameter value: a finite number.
  mutating func add(_ value: Double) {
    let exponent = Int(value.exponentBitPattern)
    let fraction = value.significandBitPattern
    // Subnormal numbers have the exponent of the smallest normal ones.
    let significand = exponent == 0 ? fraction : fraction | 1 << 52
    if significand != 0 { add(UInt128(significand), at: max(exponent, 1) - 1, isNegative: value.sign == .minus) }
  }

  mutating func add(_ value: Int128) {
    let magnitude = value.magnitude
    let half = UInt128(UInt64.max)
    add(magnitude & half, at: -Self.lowestExponent, isNegative: value < 0)
    add(magnitude >> 64, at: 64 - Self.lowestExponent, isNegative: value < 0)
  }

  /// - Parameters:
  ///   - bits: at most 64.
  ///   - place: the place of the lowest of these bits.
  private mutating func add(_ bits: UInt128, at place: Int, isNegative: Bool) {
    additions += 1
    if additions == Self.mostAdditions { carry() }
    var rest = bits << UInt128(place & 31)
    var index = place >> 5
    while rest != 0 {
      let digit = Int64(UInt32(truncatingIfNeeded: rest))
      digits[index] += isNegative ? -digit : digit
      rest >>= 32
      index += 1
    }
  }

  /// Brings all digits but the highest to the range 0 to 2^32 - 1.
  private mutating func carry() {
    additions = 0
    var carried: Int64 = 0
    for index in digits.indices {
      let sum = digits[index] + carried
      if index == digits.count - 1 {
        digits[index] = sum
      } else {
        digits[index] = sum & 0xFFFF_FFFF
        carried = sum >> 32
      }
    }
  }

  /// The nearest double to the sum divided by a number, ties to even.
  func rounded(dividedBy divisor: UInt64) -> Double {
    var sum = self
    sum.carry()
    let isNegative = sum.digits[sum.digits.count - 1] < 0
    if isNegative {
      for index in sum.digits.indices { sum.digits[index] = -sum.digits[index] }
      sum.carry()
    }
    var places = sum.digits
    var hasRest = false
    var unit = Self.lowestExponent
    if divisor > 1 {
      // Digits are added after the point, so that enough of the quotient is exact. The remainder decides ties.
      let added = 4
      places = [Int64](repeating: 0, count: added) + places
      unit -= 32 * added
      var remainder: UInt128 = 0
      for index in places.indices.reversed() {
        let part = remainder << 32 | UInt128(places[index])
        places[index] = Int64(part / UInt128(divisor))
        remainder = part % UInt128(divisor)
      }
      hasRest = remainder != 0
    }
    let magnitude = Self.nearest(places, unit: unit, hasRest: hasRest)
    return isNegative ? -magnitude : magnitude
  }

  /// - Parameters:
  ///   - digits: numbers from 0 to 2^32 - 1.
  ///   - unit: the exponent of the lowest bit.
  ///   - hasRest: whether the number has nonzero bits below the lowest one.
  private static func nearest(_ digits: [Int64], unit: Int, hasRest: Bool) -> Double {
    guard let top = digits.lastIndex(where: { $0 != 0 }) else { return 0 }
    let low = max(top - 3, 0)
    var bits: UInt128 = 0
    for index in (low...top).reversed() { bits = bits << 32 | UInt128(digits[index]) }
    var hasRest = hasRest || digits[..<low].contains { $0 != 0 }
    var exponent = unit + 32 * low
    // A double has 53 bits, and no bits below its lowest exponent.
    let length = 128 - bits.leadingZeroBitCount
    let dropped = max(length - 53, lowestExponent - exponent, 0)
    if dropped > 0 {
      let shift = UInt128(dropped)
      let half = UInt128(1) << (shift - 1)
      let rest = dropped >= 128 ? bits : bits & (half << 1 - 1)
      hasRest = hasRest || (rest & (half - 1)) != 0
      let isOver = dropped <= 128 && rest & half != 0
      bits = dropped >= 128 ? 0 : bits >> shift
      exponent += dropped
      if isOver, hasRest || bits & 1 == 1 { bits += 1 }
    }
    // The significand fits, so this is exact or infinite.
    return Double(sign: .plus, exponent: exponent, significand: Double(UInt64(bits)))
  }
}
