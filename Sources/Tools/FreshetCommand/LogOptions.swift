import ArgumentParser
import Server

/// Options for the access log and the audit log.
struct LogOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Log requests and subscriptions to a file, as JSON lines; - for standard output. Reopened at SIGHUP.",
      valueName: "file"))
  var accessLog: String?

  @Option(
    help: ArgumentHelp(
      "Log clients' transactions to a file, as lines of JSON. A transaction that cannot be logged is refused.",
      valueName: "file"))
  var auditLog: String?

  /// Flags first, then variables, then the configuration file.
  func apply(to configuration: inout ServerConfiguration, _ settings: Settings) {
    configuration.logs.access = destination(accessLog, "FRESHET_ACCESS_LOG", settings) ?? settings.file.accessLog
    configuration.logs.audit = destination(auditLog, "FRESHET_AUDIT_LOG", settings) ?? settings.file.auditLog
  }

  private func destination(_ flag: String?, _ variable: String, _ settings: Settings) -> LogDestination? {
    (flag ?? settings.text(variable)).map { LogDestination($0) }
  }
}
