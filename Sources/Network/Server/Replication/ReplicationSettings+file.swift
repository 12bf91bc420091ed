import Broker
import Foundation
import Replication

extension ReplicationSettings {
  /// The setting `replication` of a configuration file.
  ///
  /// - Parameter folder: where paths start.
  init(_ place: YAMLPlace, folder: String) throws(ServerError) {
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
      case "credentials": credentials.credentials = Self.path(try value.text(), folder)
      case "tls":
        for (name, value) in try value.members() {
          let path = Self.path(try value.text(), folder)
          switch name {
          case "authority": credentials.authority = path
          case "certificate": credentials.certificate = path
          case "key": credentials.key = path
          default: throw value.error("is unknown: tls has authority, certificate and key")
          }
        }
      case "replicas": replicas = try value.count(1...5)
      case "retention":
        for (name, value) in try value.members() {
          switch name {
          case "bytes": retainedBytes = try value.bytes()
          case "seconds": retainedSeconds = try value.count(60...31_536_000)
          default: throw value.error("is unknown: retention has bytes and seconds")
          }
        }
      case "snapshotInterval": snapshotInterval = try value.count(0...31_536_000)
      case "longestLag": longestLag = try value.count(1...86_400)
      default:
        throw value.error(
          "is unknown: replication has publish, replicate, credentials, tls, replicas, retention, snapshotInterval and longestLag"
        )
      }
    }
  }

  private static func path(_ text: String, _ folder: String) -> String {
    text.hasPrefix("/") ? text : URL(fileURLWithPath: folder).appendingPathComponent(text).path
  }
}

extension YAMLPlace {
  fileprivate func count(_ range: ClosedRange<Int>) throws(ServerError) -> Int {
    guard let number = Int(try text()), range.contains(number) else {
      throw error("must be a number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }
}
