import TestSupport
import Testing

/// A case of Autobahn's fuzzingclient, by its number there, with this server's behavior.
struct AutobahnCase: CustomTestStringConvertible, Sendable {
  enum Ending: Sendable {
    /// The session continues until the client's Close, which is answered with the same code.
    case goesOn
    /// The server closes, or answers the Close that the case sends, with this code or with none (nil).
    case closes(Int?)
    case hangsUp
  }

  enum Loss: Sendable { case texts, pongs, close }

  var number: String
  /// The client's bytes, one element for each write.
  var writes: [[UInt8]]
  var texts: [[UInt8]] = []
  var pongs: [[UInt8]] = []
  var ending = Ending.goesOn
  /// Answers that do not always come.
  var mayLose: Set<Loss> = []
  /// How the server's behavior differs from RFC 6455; nil: it does not.
  var deviation: String?

  var testDescription: String { number }
}

/// A case that breaks the protocol and is closed with 1002, unless `ending` says otherwise.
private func broken(
  _ number: String, _ frames: [[UInt8]], texts: [[UInt8]] = [], pongs: [[UInt8]] = [],
  ending: AutobahnCase.Ending = .closes(1002), _ deviation: String? = nil
) -> AutobahnCase {
  var test = AutobahnCase(
    number: number, writes: frames, texts: texts, pongs: pongs, ending: ending, deviation: deviation)
  if case .closes(1002) = ending, frames.count > 1 {
    // libwebsockets drops what is queued, and hangs up when more comes before its Close frame has left.
    test.mayLose = [.texts, .close]
    test.deviation = "the messages in front of the frame may stay unanswered, and the Close frame may be missing"
  }
  return test
}

/// libwebsockets answers no ping while a pong waits to be sent.
private func pinged(_ number: String, _ frames: [[UInt8]], texts: [[UInt8]] = [], pongs: [[UInt8]]) -> AutobahnCase {
  var test = good(number, frames, texts: texts, pongs: pongs, "of pings that come together the first is answered")
  test.mayLose = [.pongs]
  return test
}

/// Frames that are queued when the client closes are dropped.
private func closed(_ number: String, _ frames: [[UInt8]], texts: [[UInt8]]) -> AutobahnCase {
  var test = broken(
    number, frames, texts: texts, ending: .closes(1000), "messages in front of the Close frame may stay unanswered")
  test.mayLose = [.texts]
  return test
}

private func good(
  _ number: String, _ frames: [[UInt8]], texts: [[UInt8]] = [], pongs: [[UInt8]] = [], _ deviation: String? = nil
) -> AutobahnCase {
  AutobahnCase(number: number, writes: frames, texts: texts, pongs: pongs, deviation: deviation)
}

private func chopped(_ bytes: [UInt8], _ size: Int) -> [[UInt8]] {
  stride(from: 0, to: bytes.count, by: size).map { Array(bytes[$0..<min($0 + size, bytes.count)]) }
}

private func frame(_ opcode: RawWebSocket.Opcode, _ payload: [UInt8] = [], final: Bool = true) -> [UInt8] {
  RawWebSocket.encode(opcode, payload, final: final)
}

private func text(_ text: String, final: Bool = true) -> [UInt8] { frame(.text, bytes(text), final: final) }
private func more(_ text: String, final: Bool = true) -> [UInt8] { frame(.continuation, bytes(text), final: final) }

/// The frame with other reserved bits.
private func frame(reserved: UInt8, _ frame: [UInt8]) -> [UInt8] { [frame[0] | reserved << 4] + frame.dropFirst() }
private func frame(opcode: UInt8, _ payload: [UInt8] = []) -> [UInt8] {
  [0x80 | opcode] + frame(.text, payload).dropFirst()
}

private func close(_ code: Int, _ reason: [UInt8] = []) -> [UInt8] {
  frame(.close, [UInt8(code >> 8), UInt8(code & 255)] + reason)
}

/// One frame for each byte.
private func inFragments(_ payload: [UInt8]) -> [[UInt8]] {
  payload.indices.map { frame($0 == 0 ? .text : .continuation, [payload[$0]], final: $0 == payload.count - 1) }
}

extension AutobahnCase {
  static var framing: [AutobahnCase] {
    let sizes = [0, 125, 126, 127, 128, 65535, 65536]
    let stars = sizes.map { [UInt8](repeating: 0x2a, count: $0) },
      binary = sizes.map { [UInt8](repeating: 0xfe, count: $0) }
    var cases = stars.enumerated().map { good("1.1.\($0 + 1)", [frame(.text, $1)], texts: [$1]) }
    cases.append(good("1.1.8", chopped(frame(.text, stars[6]), 997), texts: [stars[6]]))
    cases += binary.enumerated().map { broken("1.2.\($0 + 1)", [frame(.binary, $1)], ending: .closes(1003)) }
    cases.append(broken("1.2.8", chopped(frame(.binary, binary[6]), 997), ending: .closes(1003)))
    return cases
  }

  static var pings: [AutobahnCase] {
    let binary: [UInt8] = [0x00, 0xff, 0xfe, 0xfd, 0xfc, 0xfb, 0x00, 0xff], most = [UInt8](repeating: 0xfe, count: 125)
    let ten = (0..<10).map { bytes("payload-\($0)") }
    return [
      good("2.1", [frame(.ping)], pongs: [[]]),
      good("2.2", [frame(.ping, bytes("Hello, world!"))], pongs: [bytes("Hello, world!")]),
      good("2.3", [frame(.ping, binary)], pongs: [binary]),
      good("2.4", [frame(.ping, most)], pongs: [most]),
      broken("2.5", [frame(.ping, most + [0xfe])], ending: .hangsUp, "hangs up without a Close frame"),
      good("2.6", frame(.ping, most).map { [$0] }, pongs: [most]),
      good("2.7", [frame(.pong)]),
      good("2.8", [frame(.pong, bytes("unsolicited pong payload"))]),
      good(
        "2.9", [frame(.pong, bytes("unsolicited")), frame(.ping, bytes("ping payload"))], pongs: [bytes("ping payload")]
      ),
      pinged("2.10", [Array(ten.map { frame(.ping, $0) }.joined())], pongs: ten),
      pinged("2.11", ten.flatMap { frame(.ping, $0).map { [$0] } }, pongs: ten),
    ]
  }

  static var reservedBits: [AutobahnCase] {
    let hello = bytes("Hello, world!"), first = frame(.text, hello), ping = frame(.ping)
    func after(_ bits: UInt8) -> [[UInt8]] { [first, frame(reserved: bits, first), ping] }
    return [
      broken("3.1", [frame(reserved: 1, first)]),
      broken("3.2", after(2), texts: [hello]),
      broken("3.3", after(3), texts: [hello]),
      broken("3.4", after(4).joined().map { [$0] }, texts: [hello]),
      broken("3.5", [frame(reserved: 5, frame(.binary, [0, 255]))]),
      broken("3.6", [frame(reserved: 6, frame(.ping, hello))]),
      broken("3.7", [frame(reserved: 7, frame(.close))]),
    ]
  }

  static var opcodes: [AutobahnCase] {
    let hello = bytes("Hello, world!"), first = frame(.text, hello), ping = frame(.ping)
    func cases(_ section: String, _ opcode: UInt8) -> [AutobahnCase] {
      [
        broken("\(section).1", [frame(opcode: opcode)]),
        broken("\(section).2", [frame(opcode: opcode + 1, bytes("reserved opcode payload"))]),
        broken("\(section).3", [first, frame(opcode: opcode + 2), ping], texts: [hello]),
        broken("\(section).4", [first, frame(opcode: opcode + 3, hello), ping], texts: [hello]),
        broken("\(section).5", (first + frame(opcode: opcode + 4, hello) + ping).map { [$0] }, texts: [hello]),
      ]
    }
    return cases("4.1", 3) + cases("4.2", 11)
  }

  static var fragmentation: [AutobahnCase] {
    let two = [text("fragment1", final: false), more("fragment2")], whole = bytes("fragment1fragment2")
    let ping = frame(.ping, bytes("ping payload")), pong = [bytes("ping payload")]
    let within = [two[0], ping, two[1]], hello = text("Hello, world!")
    let strayEnd = [more("non-continuation payload"), hello],
      stray = [more("non-continuation payload", final: false), hello]
    let five = (1...5).map { number in
      number == 1 ? text("fragment1", final: false) : more("fragment\(number)", final: number == 5)
    }
    let fivePinged = [
      five[0], five[1], frame(.ping, bytes("pongme 1!")), five[2], five[3], frame(.ping, bytes("pongme 2!")), five[4],
    ]
    let fivePongs = [bytes("pongme 1!"), bytes("pongme 2!")],
      fiveWhole = bytes("fragment1fragment2fragment3fragment4fragment5")
    func octets(_ frames: [[UInt8]]) -> [[UInt8]] { frames.joined().map { [$0] } }
    func once(_ frames: [[UInt8]]) -> [[UInt8]] { [Array(frames.joined())] }
    return [
      broken("5.1", [frame(.ping, bytes("fragment1"), final: false), more("fragment2")]),
      broken("5.2", [frame(.pong, bytes("fragment1"), final: false), more("fragment2")]),
      good("5.3", once(two), texts: [whole]), good("5.4", two, texts: [whole]),
      good("5.5", octets(two), texts: [whole]),
      good("5.6", once(within), texts: [whole], pongs: pong), good("5.7", within, texts: [whole], pongs: pong),
      good("5.8", octets(within), texts: [whole], pongs: pong),
      broken("5.9", once(strayEnd)), broken("5.10", strayEnd), broken("5.11", octets(strayEnd)),
      broken("5.12", once(stray)), broken("5.13", stray), broken("5.14", octets(stray)),
      broken("5.15", two + [more("fragment3", final: false), text("fragment4")], texts: [whole]),
      broken("5.16", [more("fragment1", final: false), text("fragment2", final: false), more("fragment3")]),
      broken("5.17", [more("fragment1"), text("fragment2", final: false), more("fragment3")]),
      broken("5.18", [text("fragment1", final: false), text("fragment2")]),
      pinged("5.19", fivePinged, texts: [fiveWhole], pongs: fivePongs),
      pinged("5.20", octets(fivePinged), texts: [fiveWhole], pongs: fivePongs),
    ]
  }

  static var closing: [AutobahnCase] {
    let hello = bytes("Hello World!"), bad: [UInt8] = [0xce, 0xba, 0xe1, 0xbd, 0xb9, 0xed, 0xa0, 0x80]
    let large = [UInt8](repeating: 0x42, count: 256 << 10), most = [UInt8](repeating: 0x2a, count: 123)
    let back = "the Close frame comes back as it is"
    func answered(_ number: String, _ code: Int) -> AutobahnCase {
      broken(number, [close(code)], ending: .closes(code))
    }
    var cases = [
      closed("7.1.1", [frame(.text, hello), close(1000)], texts: [hello]),
      broken("7.1.2", [close(1000), close(1000)], ending: .closes(1000)),
      broken("7.1.3", [close(1000), frame(.ping)], ending: .closes(1000)),
      broken("7.1.4", [close(1000), frame(.text, hello)], ending: .closes(1000)),
      broken("7.1.5", [text("fragment1", final: false), close(1000), more("fragment2")], ending: .closes(1000)),
      closed("7.1.6", [frame(.text, large), close(1000), frame(.ping)], texts: [large]),
      broken("7.3.1", [frame(.close)], ending: .closes(nil)),
      broken("7.3.2", [frame(.close, [0x61])], ending: .closes(nil), back),
      answered("7.3.3", 1000),
      broken("7.3.4", [close(1000, hello)], ending: .closes(1000)),
      broken("7.3.5", [close(1000, most)], ending: .closes(1000)),
      broken("7.3.6", [close(1000, most + [0x2a])], ending: .hangsUp, "hangs up without a Close frame"),
      broken("7.5.1", [close(1000, bad)], ending: .closes(1000), back),
    ]
    let valid = [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999]
    cases += valid.enumerated().map { answered("7.7.\($0 + 1)", $1) }
    let invalid = [0, 999, 1004, 1005, 1006, 1016, 1100, 2000, 2999]
    cases += invalid.enumerated().map { broken("7.9.\($0 + 1)", [close($1)]) }
    cases += [5000, 65535].enumerated().map { answered("7.13.\($0 + 1)", $1) }
    return cases
  }

  /// A few of section 9; the message limit is 8 MiB there.
  static var limits: [AutobahnCase] {
    let stars = [UInt8](repeating: 0x2a, count: 4 << 20), million = Array(stars.prefix(1 << 20))
    let parts = chopped(stars, 64 << 10)
    let fragments = parts.enumerated().map { frame($0 == 0 ? .text : .continuation, $1, final: $0 == parts.count - 1) }
    return [
      good("9.1.3", [frame(.text, million)], texts: [million]),
      good("9.1.4", [frame(.text, stars)], texts: [stars]),
      good("9.3.6", fragments, texts: [stars]),
      good("9.5.4", chopped(frame(.text, million), 512), texts: [million]),
      good("9.7.1", (0..<1000).map { _ in frame(.text) }, texts: (0..<1000).map { _ in [] }),
    ]
  }
}

/// Cases of section 6.
extension AutobahnCase {
  private static let greek = hex("ce ba e1 bd b9 cf 83 ce bc ce b5")

  private static func hex(_ text: String) -> [UInt8] {
    text.split(separator: " ").map { UInt8($0, radix: 16) ?? 0 }
  }

  private static func valid(_ section: String, _ texts: [[UInt8]]) -> [AutobahnCase] {
    texts.enumerated().map { good("\(section).\($0 + 1)", [frame(.text, $1)], texts: [$1]) }
  }

  private static func invalid(_ section: String, _ texts: [[UInt8]], from first: Int = 1) -> [AutobahnCase] {
    texts.enumerated().map { broken("\(section).\($0 + first)", [frame(.text, $1)], ending: .closes(1007)) }
  }

  static var utf8: [AutobahnCase] {
    let hello = bytes("Hello-µ@ßöäüàá-UTF-8!!"), bad = greek + hex("ed a0 80") + bytes("edited")
    let late = "closes with 1007 when the message is whole"
    let far = [greek, hex("f4 90 80 80"), bytes("edited")]
    let inThree = [
      frame(.text, far[0], final: false), frame(.continuation, far[1], final: false), frame(.continuation, far[2]),
    ]
    let withinCharacter = [
      frame(.text, greek + hex("f4"), final: false), frame(.continuation, hex("90"), final: false),
      frame(.continuation),
    ]
    let inOne = frame(.text, Array(far.joined())), cut = greek.count + 10
    return [
      good("6.1.1", [text("")], texts: [[]]),
      good("6.1.2", [text("", final: false), more("", final: false), more("")], texts: [[]]),
      good("6.1.3", [text("", final: false), more("middle", final: false), more("")], texts: [bytes("middle")]),
      good("6.2.1", [frame(.text, hello)], texts: [hello]),
      good(
        "6.2.2",
        [frame(.text, Array(hello.prefix(14)), final: false), frame(.continuation, Array(hello.dropFirst(14)))],
        texts: [hello]),
      good("6.2.3", inFragments(hello), texts: [hello]),
      good("6.2.4", inFragments(greek), texts: [greek]),
      broken("6.3.1", [frame(.text, bad)], ending: .closes(1007)),
      broken("6.3.2", inFragments(bad), ending: .closes(1007), late),
      broken("6.4.1", inThree, ending: .closes(1007), late),
      broken("6.4.2", withinCharacter, ending: .closes(1007), late),
      broken("6.4.3", [Array(inOne[..<cut]), Array(inOne[cut...])], ending: .closes(1007), late),
      broken("6.4.4", inOne.map { [$0] }, ending: .closes(1007), late),
    ] + sequences + nonCharacters
  }

  private static var sequences: [AutobahnCase] {
    let overlong = [
      "c0 af", "e0 80 af", "f0 80 80 af", "f8 80 80 80 af", "fc 80 80 80 80 af", "c1 bf", "e0 9f bf", "f0 8f bf bf",
      "f8 87 bf bf bf",
      "fc 83 bf bf bf bf", "c0 80", "e0 80 80", "f0 80 80 80", "f8 80 80 80 80", "fc 80 80 80 80 80",
    ].map(hex)
    let incomplete = [
      "df", "ef bf", "f7 bf bf", "fb bf bf bf", "fd bf bf bf bf", "c0", "e0 80", "f0 80 80", "f8 80 80 80",
      "fc 80 80 80 80",
    ]
    let starts: [ClosedRange<UInt8>] = [0xc0...0xdf, 0xe0...0xef, 0xf0...0xf7, 0xf8...0xfb, 0xfc...0xfd]
    let lonely = starts.map { range in [UInt8](range.map { [$0, 0x20] }.joined()) }
    let surrogates = ["ed a0 80", "ed ad bf", "ed ae 80", "ed af bf", "ed b0 80", "ed be 80", "ed bf bf"].map(hex)
    let pairs = ["ed a0 80", "ed ad bf", "ed ae 80", "ed af bf"].flatMap { high in
      ["ed b0 80", "ed bf bf"].map { hex(high + " " + $0) }
    }
    let lengths = [1, 2, 3, 4, 5, 6, 7, 63].map { [UInt8](repeating: 0x80, count: $0) }
    return valid("6.5", [greek, greek + bytes("$"), hex("c3 a4"), bytes("a") + greek, greek + greek])
      + (1...greek.count).map { count in
        let prefix = Array(greek.prefix(count))
        return utf8Whole(prefix)
          ? good("6.6.\(count)", [frame(.text, prefix)], texts: [prefix])
          : broken("6.6.\(count)", [frame(.text, prefix)], ending: .closes(1007))
      }
      + valid("6.7", ["00", "c2 80", "e0 a0 80", "f0 90 80 80"].map(hex))
      + invalid("6.8", ["f8 88 80 80 80", "fc 84 80 80 80 80"].map(hex))
      + valid("6.9", ["7f", "df bf", "ef bf bf", "f4 8f bf bf"].map(hex))
      + invalid("6.10", ["f7 bf bf bf", "fb bf bf bf bf", "fd bf bf bf bf bf"].map(hex))
      + valid("6.11", ["ed 9f bf", "ee 80 80", "ef bf bd", "f4 8f bf bf"].map(hex))
      + invalid("6.11", [hex("f4 90 80 80")], from: 5)
      + invalid("6.12", lengths) + invalid("6.13", lonely) + invalid("6.14", incomplete.map(hex))
      + invalid("6.15", [hex(incomplete.joined(separator: " "))])
      + invalid("6.16", ["fe", "ff", "fe fe ff ff"].map(hex))
      + invalid("6.17", Array(overlong[0..<5])) + invalid("6.18", Array(overlong[5..<10]))
      + invalid("6.19", Array(overlong[10...]))
      + invalid("6.20", surrogates) + invalid("6.21", pairs)
  }

  private static func utf8Whole(_ bytes: [UInt8]) -> Bool { String(validating: bytes, as: UTF8.self) != nil }

  /// Code points that are not characters, which are valid in UTF-8.
  private static var nonCharacters: [AutobahnCase] {
    let planes = (0...16).flatMap { plane in [0xfffe, 0xffff].map { UInt32(plane << 16 | $0) } }
    let specials = (0xfff9...0xffff).map { UInt32($0) }
    func encoded(_ scalars: [UInt32]) -> [[UInt8]] {
      scalars.map { scalar in Unicode.Scalar(scalar).map { Array(String($0).utf8) } ?? [] }
    }
    return valid("6.22", encoded(planes)) + valid("6.23", encoded(specials))
  }
}
