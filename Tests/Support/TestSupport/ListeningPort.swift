import Foundation

/// A port of loopback that another socket listens on.
package final class ListeningPort {
  package let descriptor: Int32
  package let port: Int

  package init() throws {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        bind(descriptor, pointer, length) == 0 && listen(descriptor, 64) == 0
          && getsockname(descriptor, pointer, &length) == 0
      }
    }
    self.descriptor = descriptor
    port = Int(UInt16(bigEndian: address.sin_port))
    guard isBound else { throw RawSocket.Failure(description: "no free port") }
  }

  deinit { close(descriptor) }
}
