import Broker
import Replication

extension ReplicationSettings {
  /// The setting `replication` of a configuration file.
  init(_ place: YAMLPlace) throws(ServerError) {
    var address: (role: Role, address: BrokerAddress)?
    let members = try place.members()
    for (name, value) in members {
      guard let role = ["publish": Role.publisher, "replicate": .replica][name] else { continue }
      guard let found = BrokerAddress(try value.text()) else {
        throw value.error("must be \(BrokerAddress.expectation)")
      }
      if address != nil { throw place.error("has publish or replicate, not both") }
      address = (role, found)
    }
    guard let address else { throw place.error("needs publish or replicate: \(BrokerAddress.expectation)") }
    self.init(address.role, address.address)
    for (name, value) in members {
      switch name {
      case "publish", "replicate": break
      case "credentials": credentials.credentials = try value.filePath()
      case "tls":
        for (name, value) in try value.members() {
          switch name {
          case "authority": credentials.authority = try value.filePath()
          case "certificate": credentials.certificate = try value.filePath()
          case "key": credentials.key = try value.filePath()
          default: throw value.unknown(name, "tls has", ["authority", "certificate", "key"])
          }
        }
      case "replicas": replicas = try value.count(1...5)
      case "retention":
        for (name, value) in try value.members() {
          switch name {
          case "bytes": retainedBytes = try value.bytes()
          case "seconds": retainedSeconds = try value.count(60...31_536_000)
          default: throw value.unknown(name, "retention has", ["bytes", "seconds"])
          }
        }
      case "snapshotInterval": snapshotInterval = try value.count(0...31_536_000)
      case "longestLag": longestLag = try value.count(1...86_400)
      default:
        throw value.unknown(
          name, "replication has",
          [
            "publish", "replicate", "credentials", "tls", "replicas", "retention", "snapshotInterval", "longestLag",
          ])
      }
    }
  }
}
