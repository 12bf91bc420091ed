/// How the characters of a file are written.
package enum CSVEncoding: String, CaseIterable, Sendable {
  case utf8 = "utf-8"
  case windows1252 = "windows-1252"
}

/// Windows-1252: what old spreadsheets call ANSI, and most of what is called Latin-1.
enum Windows1252 {
  /// Appends a character as UTF-8.
  ///
  /// - Returns: whether there is such a character: five bytes mean nothing.
  static func append(_ byte: UInt8, to bytes: inout [UInt8]) -> Bool {
    guard byte >= 0x80 else {
      bytes.append(byte)
      return true
    }
    let scalar = byte < 0xA0 ? special[Int(byte - 0x80)] : UInt32(byte)
    guard scalar != 0, let character = Unicode.Scalar(scalar) else { return false }
    bytes.append(contentsOf: UTF8.encode(character)!)
    return true
  }

  static func isDefined(_ byte: UInt8) -> Bool { !(0x80..<0xA0).contains(byte) || special[Int(byte - 0x80)] != 0 }

  /// The characters 0x80 to 0x9F, where it differs from Latin-1.
  private static let special: [UInt32] = [
    0x20AC, 0, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0, 0x017D, 0,
    0, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0, 0x017E,
    0x0178,
  ]
}
