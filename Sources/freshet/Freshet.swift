import ArgumentParser
import Server

@main
struct Freshet: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "freshet",
    abstract: "Live, sectioned lists from any SQLite file.",
    discussion: """
      freshet serve app.sqlite

      Browsers, phones and scripts subscribe over WebSocket to sorted, sectioned queries and receive patches the moment
      the file changes, whoever changed it: this server, the sqlite3 shell, any program in any language.
      """,
    version: freshetVersion,
    subcommands: [
      Serve.self, Check.self, Demo.self, Import.self, Explain.self, Watch.self, Health.self,
      DemoWriterCommand.self,
    ])
}
