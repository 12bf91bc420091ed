import Foundation

/// Follows one list of a database of wells without threads or sockets, changes it, and prints what each change took.
///
///     freshet-turns wells.sqlite [COMMAND…]
///     freshet-turns restart wells.sqlite
///
/// Commands come as arguments or, without any, one a line on standard input. Each is answered by lines and then `done`:
///
/// - `change KIND COUNT`: one-row commits; a line for each: nanoseconds from the end of the commit to the encoded patch
/// - `thousand ROUNDS`: commits of 1,000 changes; a line for each: the same time, operations sent, the fewest there can
///   be
/// - `follow`: takes in what others have committed; no lines
///
/// `restart` is `RestartTimes`: what keeping a state costs, and going on from it.
///
/// The same arguments make the same changes, so that `valgrind --tool=callgrind` counts the same instructions.
@main
struct TurnsCommand {
  static func main() {
    do {
      var arguments = Array(CommandLine.arguments.dropFirst())
      guard let path = arguments.first else { throw Failure("usage: freshet-turns DATABASE [COMMAND…]") }
      arguments.removeFirst()
      if path == "restart", let database = arguments.first {
        var times = try RestartTimes(path: database)
        try times.measure()
        for line in times.lines { say("\(line.name)\t\(line.value)") }
        return say("done")
      }
      let list = try FollowedList(path: path)
      say("ready \(list.rows)")
      if arguments.isEmpty {
        while let line = readLine() { try perform(line, list) }
      } else {
        for command in arguments { try perform(command, list) }
      }
    } catch {
      FileHandle.standardError.write(Data("freshet-turns: \(error)\n".utf8))
      exit(1)
    }
  }

  private static func perform(_ command: String, _ list: FollowedList) throws {
    let words = command.split(separator: " ").map(String.init)
    if words.count == 3, words[0] == "change", let kind = ChangeKind(rawValue: words[1]), let count = Int(words[2]) {
      for _ in 0..<count { say("\(try list.time(kind))") }
    } else if words.count == 2, words[0] == "thousand", let rounds = Int(words[1]) {
      for _ in 0..<rounds {
        let outcome = try list.timeThousand()
        say("\(outcome.nanoseconds) \(outcome.sent) \(outcome.fewest)")
      }
    } else if words == ["follow"] {
      list.follow()
    } else {
      throw Failure("unknown command: \(command)")
    }
    say("done")
  }
}

/// Unbuffered, because the benchmark waits for it.
private func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

/// Why nothing can be measured.
struct Failure: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
