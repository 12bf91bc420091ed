import FreshetResults

/// The action of a key.
package enum WatchKey: Equatable, Sendable {
  case up, down, pageUp, pageDown, home, end, quit
}

/// Cuts what a terminal sends into keys. State: the start of an escape sequence whose end has not come yet.
package struct KeyDecoder {
  private var pending: [UInt8] = []

  package init() {}

  private static let sequences: [String: WatchKey] = [
    "\u{1B}[A": .up, "\u{1B}OA": .up, "\u{1B}[B": .down, "\u{1B}OB": .down, "\u{1B}[5~": .pageUp,
    "\u{1B}[6~": .pageDown,
    "\u{1B}[H": .home, "\u{1B}OH": .home, "\u{1B}[1~": .home, "\u{1B}[F": .end, "\u{1B}OF": .end, "\u{1B}[4~": .end,
    "k": .up, "j": .down, "\n": .down, "b": .pageUp, " ": .pageDown, "g": .home, "G": .end, "q": .quit, "\u{3}": .quit,
  ]

  package mutating func keys(_ bytes: some Sequence<UInt8>) -> [WatchKey] {
    var keys: [WatchKey] = []
    for byte in bytes {
      if byte == 0x1B { pending = [] }
      pending.append(byte)
      if let key = Self.sequences[String(decoding: pending, as: UTF8.self)] {
        keys.append(key)
        pending = []
      } else if pending[0] != 0x1B || isFinal(byte) {
        pending = []
      }
    }
    return keys
  }

  /// Whether a byte ends an escape sequence, known or not.
  private func isFinal(_ byte: UInt8) -> Bool {
    pending.count > 16 || pending.count == 2 && byte != 0x5B && byte != 0x4F || pending.count > 2 && byte >= 0x40
  }
}

/// Moves the window by keys.
package struct Scrolling {
  /// Lines for rows and section names.
  package var height: Int

  package init(height: Int) { self.height = height }

  /// - Parameter offset: the window's present offset.
  /// - Parameter shown: rows on the screen.
  package func offset(after key: WatchKey, from offset: Int, shown: Int, in list: Rows) -> Int {
    let page = max(1, shown - 1)
    let wanted =
      switch key {
      case .up: offset - 1
      case .down: offset + 1
      case .pageUp: offset - page
      case .pageDown: offset + page
      case .home, .quit: 0
      case .end: Int.max
      }
    return max(0, min(wanted, lastOffset(list)))
  }

  /// The first offset from which all rows to the end fit on the screen, with the section names between them.
  func lastOffset(_ list: Rows) -> Int {
    var lines = height
    var offset = list.count
    for section in list.sections.reversed() where section.count > 0 {
      if list.hasSections { lines -= 1 }
      let taken = min(lines, section.count)
      if taken <= 0 { break }
      lines -= taken
      offset -= taken
      if taken < section.count { break }
    }
    return max(0, min(offset, list.count - 1))
  }
}
