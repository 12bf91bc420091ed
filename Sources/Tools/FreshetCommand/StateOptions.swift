import ArgumentParser
import ChangeCapture
import Foundation
import Server

/// Where the state of the file is kept for the next start.
struct StateOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The folder for what is known of the file, so that a restart is no event for clients. "
        + "(default: $STATE_DIRECTORY/state for a service, else $XDG_STATE_HOME/freshet or ~/.local/state/freshet)",
      valueName: "dir"))
  var state: String?

  @Flag(help: "Keep nothing for the next start.")
  var noState = false

  func validate() throws {
    if state != nil, noState { throw ValidationError("--state and --no-state contradict each other.") }
  }

  /// Flags first, then the variable, then the configuration file; nil: nothing is kept.
  func folder(_ settings: Settings) -> String? {
    if noState { return nil }
    if let state { return path(state) }
    switch settings.text("FRESHET_STATE") {
    case "none"?: return nil
    case let folder?: return path(folder)
    case nil: break
    }
    switch settings.file.state {
    case .nowhere?: return nil
    case .folder(let folder)?: return folder
    case nil: return StateFolder.standard(ProcessInfo.processInfo.environment)
    }
  }

  private func path(_ folder: String) -> String { URL(fileURLWithPath: folder).path }
}
