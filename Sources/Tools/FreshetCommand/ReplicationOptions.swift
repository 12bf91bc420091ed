import ArgumentParser
import Broker
import Replication
import Server

/// How the file is replicated.
struct ReplicationOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Put every change of the file into a log in NATS JetStream, for replicas: nats://host:port/stream.",
      valueName: "url"))
  var publish: String?

  @Option(
    help: ArgumentHelp(
      "Make the file, and keep it so, of the log that another server publishes: nats://host:port/stream.",
      valueName: "url"))
  var replicate: String?

  func validate() throws {
    if publish != nil, replicate != nil { throw ValidationError("--publish or --replicate, not both.") }
  }

  /// Flags first, then variables, then the configuration file. The file's other settings also hold for a log whose
  /// address a flag or variable gives.
  func settings(_ settings: Settings) throws -> ReplicationSettings? {
    let variables = [
      ("FRESHET_PUBLISH", ReplicationSettings.Role.publisher), ("FRESHET_REPLICATE", .replica),
    ].compactMap { name, role in settings.text(name).map { (name, role, $0) } }
    if publish == nil, replicate == nil, variables.count > 1 {
      throw CommandFailure("FRESHET_PUBLISH or FRESHET_REPLICATE, not both")
    }
    let said: (name: String, role: ReplicationSettings.Role, text: String)?
    if let publish {
      said = ("--publish", .publisher, publish)
    } else if let replicate {
      said = ("--replicate", .replica, replicate)
    } else {
      said = variables.first
    }
    guard let said else { return settings.file.replication }
    guard let address = BrokerAddress(said.text) else {
      throw CommandFailure("\(said.name) must be \(BrokerAddress.expectation)")
    }
    var result = settings.file.replication ?? ReplicationSettings(said.role, address)
    (result.role, result.address) = (said.role, address)
    return result
  }
}
