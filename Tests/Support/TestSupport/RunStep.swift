/// One step of a property test's run, as a value: it can be left out, repeated and kept.
package enum RunStep: Equatable, Sendable {
  /// Another process runs SQL, one statement a line.
  case commit(String)
  /// A follower ticks.
  case tick
  /// A follower does all work that is due.
  case step
  /// Readers do what they have been asked, in the present state of the file.
  case readers
  /// A list is subscribed to anew.
  case open(Int)
  /// Compares the followed lists with SQLite's answers.
  case compare
  /// A step that only one kind of run has.
  case other(String)
}

extension RunStep: CustomStringConvertible {
  package var description: String {
    switch self {
    case .commit(let sql): "commit\n\(sql)"
    case .tick: "tick"
    case .step: "step"
    case .readers: "readers"
    case .open(let list): "open \(list)"
    case .compare: "compare"
    case .other(let text): text
    }
  }
}

/// A step is a text, so that fixtures can be read.
extension RunStep: Codable {
  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    switch text {
    case "tick": self = .tick
    case "step": self = .step
    case "readers": self = .readers
    case "compare": self = .compare
    default:
      if text.hasPrefix("commit\n") {
        self = .commit(String(text.dropFirst(7)))
      } else if text.hasPrefix("open "), let list = Int(text.dropFirst(5)) {
        self = .open(list)
      } else {
        self = .other(text)
      }
    }
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
