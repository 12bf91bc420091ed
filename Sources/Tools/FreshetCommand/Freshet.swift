import ArgumentParser
import CFreshetSystem
import LiveQuery
import Server

@main
struct Freshet: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "freshet",
    abstract: "Live, sectioned lists from any SQLite file.",
    discussion: """
      freshet serve app.sqlite

      Browsers, phones and scripts subscribe over WebSocket to sorted, sectioned queries and receive patches the moment
      the file changes, by this server, the sqlite3 shell or any program in any language.
      """,
    version: version,
    subcommands: [
      Serve.self, Check.self, Demo.self, Explain.self, Types.self, Watch.self, Changes.self, Health.self,
      Status.self,
      DemoWriterCommand.self,
    ])

  /// The version, with the commit if the build knows it.
  private static var version: String {
    system_build_commit().map { "\(freshetVersion) (\(String(cString: $0)))" } ?? freshetVersion
  }

  static func main() {
    let words = CommandLine.arguments.dropFirst()
    if let problem = unknownCommand(words.first == "help" ? words.dropFirst().first : words.first) {
      exit(withError: ValidationError(problem))
    }
    do { _ = try Variables.unknown() } catch { exit(withError: error) }
    main(nil)
  }

  /// The error in the first word, if it is not the name of a command.
  private static func unknownCommand(_ word: String?) -> String? {
    let shown = configuration.subcommands.filter { $0.configuration.shouldDisplay }
    let names = shown.map { $0.configuration.commandName ?? "\($0)".lowercased() } + ["help"]
    let isKnown =
      configuration.subcommands.contains { $0.configuration.commandName == word } || names.contains { $0 == word }
    guard let word, !word.hasPrefix("-"), !isKnown else { return nil }
    if let hint = Spelling.hint(for: word, of: names) { return "there is no command \(word)\(hint)" }
    if DatabaseFile.isThere(word) { return "there is no command \(word): to serve that file, freshet serve \(word)" }
    return "there is no command \(word): there are \(names.joined(separator: ", "))"
  }
}
