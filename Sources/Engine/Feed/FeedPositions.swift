import Store

/// Names positions in the feed of one epoch: entry numbers, encrypted. A plain number would reveal how many commits a
/// reader's role does not see. So it is encrypted. An entry always has the same position, so readers recognize a
/// message that they get twice. A position that belongs to no message contains a random number, so that it does not
/// even show whether there were entries. The key is part of the epoch's own name, which is kept with the log and never
/// sent.
struct FeedPositions {
  /// The prefix of all positions of the epoch.
  private let prefix: String
  private let key: (UInt64, UInt64)

  /// A new, unique name of an epoch.
  static var newEpoch: String {
    [UInt64](repeating: 0, count: 3).map { _ in String(UInt64.random(in: 0 ... .max), radix: 36) }
      .joined(separator: "-")
  }

  /// - Parameter epoch: a name that `newEpoch` returned. The result is nil for any other text.
  init?(epoch: String) {
    let parts = epoch.split(separator: "-")
    guard parts.count == 3, let first = UInt64(parts[1], radix: 36), let second = UInt64(parts[2], radix: 36) else {
      return nil
    }
    prefix = parts[0] + "."
    key = (first, second)
  }

  /// The position of an entry's own message.
  func name(ofEntry number: UInt64) -> String { name(number, 0) }

  /// A new position after an entry, which differs from all earlier positions.
  func name(behind number: UInt64) -> String { name(number, .random(in: 1 ... .max)) }

  private func name(_ number: UInt64, _ salt: UInt64) -> String {
    var block = (number, salt)
    for round in 0..<Self.rounds { block = (block.1, block.0 ^ hash(block.1, round)) }
    return prefix + Self.digits(block.0) + Self.digits(block.1)
  }

  /// The number of the entry before a position; nil for a position of another epoch.
  func number(of name: String) -> UInt64? {
    let digits = name.dropFirst(prefix.count)
    guard name.hasPrefix(prefix), digits.utf8.count == 2 * Self.digitCount,
      var first = UInt64(digits.prefix(Self.digitCount), radix: 16),
      var second = UInt64(digits.dropFirst(Self.digitCount), radix: 16)
    else { return nil }
    for round in (0..<Self.rounds).reversed() { (first, second) = (second ^ hash(first, round), first) }
    return first
  }

  private static let rounds: UInt64 = 4
  private static let digitCount = 16

  private static func digits(_ number: UInt64) -> String {
    let text = String(number, radix: 16)
    return String(repeating: "0", count: digitCount - text.utf8.count) + text
  }

  /// The SipHash-2-4 of two words. It is the round function of a Feistel network, which makes it a permutation of 128
  /// bits.
  private func hash(_ half: UInt64, _ round: UInt64) -> UInt64 {
    var v0 = key.0 ^ 0x736F_6D65_7073_6575
    var v1 = key.1 ^ 0x646F_7261_6E64_6F6D
    var v2 = key.0 ^ 0x6C79_6765_6E65_7261
    var v3 = key.1 ^ 0x7465_6462_7974_6573
    func mix() {
      v0 &+= v1
      v1 = (v1 << 13 | v1 >> 51) ^ v0
      v0 = v0 << 32 | v0 >> 32
      v2 &+= v3
      v3 = (v3 << 16 | v3 >> 48) ^ v2
      v0 &+= v3
      v3 = (v3 << 21 | v3 >> 43) ^ v0
      v2 &+= v1
      v1 = (v1 << 17 | v1 >> 47) ^ v2
      v2 = v2 << 32 | v2 >> 32
    }
    // The last word has the length in its first byte.
    for word in [half, round, 16 << 56] {
      v3 ^= word
      mix()
      mix()
      v0 ^= word
    }
    v2 ^= 0xFF
    for _ in 0..<4 { mix() }
    return v0 ^ v1 ^ v2 ^ v3
  }
}
