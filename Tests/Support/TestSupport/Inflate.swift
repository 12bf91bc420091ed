/// A short and slow decoder of DEFLATE (RFC 1951), for tests.
package struct Inflate {
  struct Malformed: Error {}

  private var window: [UInt8] = []
  private var input: [UInt8] = []
  private var position = 0

  package init() {}

  /// The contents of a compressed stream; nothing may follow it.
  package mutating func message(_ payload: [UInt8]) throws -> [UInt8] {
    (input, position) = (payload, 0)
    let start = window.count
    while true {
      let last = try bits(1)
      switch try bits(2) {
      case 0: try stored()
      case 1: try compressed(Code(fixedLengths), Code([Int](repeating: 5, count: 30)))
      case 2: try dynamic()
      default: throw Malformed()
      }
      if last == 1 { break }
    }
    defer { window.removeFirst(max(0, window.count - 32768)) }
    return Array(window[start...])
  }

  /// A canonical Huffman code: symbols in order of length, and the number of symbols of each length.
  private struct Code {
    var counts = [Int](repeating: 0, count: 16)
    var symbols: [Int]

    init(_ lengths: [Int]) {
      symbols = lengths.indices.filter { lengths[$0] > 0 }.sorted { (lengths[$0], $0) < (lengths[$1], $1) }
      for length in lengths where length > 0 { counts[length] += 1 }
    }
  }

  private let fixedLengths = (0..<288).map { $0 < 144 ? 8 : $0 < 256 ? 9 : $0 < 280 ? 7 : 8 }

  private mutating func bits(_ count: Int) throws -> Int {
    var value = 0
    for index in 0..<count {
      guard position < input.count * 8 else { throw Malformed() }
      value |= Int(input[position / 8] >> (position % 8) & 1) << index
      position += 1
    }
    return value
  }

  private mutating func symbol(_ code: Code) throws -> Int {
    var (value, first, index) = (0, 0, 0)
    for length in 1..<16 {
      value = value << 1 | (try bits(1))
      if value - first < code.counts[length] { return code.symbols[index + value - first] }
      index += code.counts[length]
      first = (first + code.counts[length]) << 1
    }
    throw Malformed()
  }

  private mutating func stored() throws {
    position = (position + 7) / 8 * 8
    let length = try bits(16)
    _ = try bits(16)
    for _ in 0..<length { window.append(UInt8(try bits(8))) }
  }

  private mutating func dynamic() throws {
    let (literals, distances, lengths) = (try bits(5) + 257, try bits(5) + 1, try bits(4) + 4)
    var code = [Int](repeating: 0, count: 19)
    for index in [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15][..<lengths] {
      code[index] = try bits(3)
    }
    let meta = Code(code)
    var all: [Int] = []
    while all.count < literals + distances {
      switch try symbol(meta) {
      case 16: all += [Int](repeating: all.last ?? 0, count: try bits(2) + 3)
      case 17: all += [Int](repeating: 0, count: try bits(3) + 3)
      case 18: all += [Int](repeating: 0, count: try bits(7) + 11)
      case let length: all.append(length)
      }
    }
    try compressed(Code(Array(all[..<literals])), Code(Array(all[literals...])))
  }

  private mutating func compressed(_ literals: Code, _ distances: Code) throws {
    while case let literal = try symbol(literals), literal != 256 {
      if literal < 256 {
        window.append(UInt8(literal))
        continue
      }
      let length = try extended(literal - 257, perStep: 4, base: 3, capped: true)
      let distance = try extended(try symbol(distances), perStep: 2, base: 1, capped: false)
      guard distance <= window.count else { throw Malformed() }
      for _ in 0..<length { window.append(window[window.count - distance]) }
    }
  }

  /// Lengths and distances: codes in steps of `perStep`, each step with one more extra bit.
  private mutating func extended(_ code: Int, perStep: Int, base: Int, capped: Bool) throws -> Int {
    if capped && code == 28 { return 258 }
    let extra = max(0, code / perStep - 1)
    let start = extra == 0 ? code : (perStep + code % perStep) << extra
    return base + start + (try bits(extra))
  }
}
