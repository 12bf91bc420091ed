import Ground

/// The sockets that a gateway listens on: one for each service thread, over which the system spreads connections. If
/// the system does not, or if the socket was passed on, all threads share one.
struct ListeningSockets {
  let descriptors: [Int32]
  let port: Int

  init(_ configuration: GatewayConfiguration) throws(GatewayError) {
    let first = if let passed = configuration.listeningSocket { passed } else { try Self.first(configuration) }
    guard let port = Self.port(of: first) else {
      close(first)
      throw GatewayError(message: "what was passed on to listen on is no socket")
    }
    self.port = port
    var descriptors = [first]
    while descriptors.count < configuration.serviceThreads {
      descriptors.append(
        configuration.listeningSocket == nil ? Self.another(like: first) : Self.duplicate(first))
    }
    guard !descriptors.contains(-1) else {
      let problem = errno
      for descriptor in descriptors where descriptor >= 0 { close(descriptor) }
      throw GatewayError(message: "cannot listen on port \(port) on \(configuration.host): \(Self.sentence(problem))")
    }
    self.descriptors = descriptors
  }

  /// Fails if another process listens at the address, even if that process would share it.
  private static func first(_ configuration: GatewayConfiguration) throws(GatewayError) -> Int32 {
    let (host, port) = (configuration.host, configuration.port)
    guard let port = UInt16(exactly: port) else { throw GatewayError(message: "\(port) is not a port") }
    var hints = addrinfo()
    hints.ai_socktype = streams
    hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV
    var found: UnsafeMutablePointer<addrinfo>?
    let failure = getaddrinfo(host, "\(port)", &hints, &found)
    guard failure == 0, let found else {
      throw GatewayError(message: "\(host) is not an address: \(String(cString: gai_strerror(failure)))")
    }
    defer { freeaddrinfo(found) }
    let descriptor = bound(found.pointee.ai_addr, found.pointee.ai_addrlen, isShared: false)
    if descriptor >= 0 { return descriptor }
    let problem = errno
    switch problem {
    case EADDRINUSE: throw GatewayError(message: "port \(port) on \(host) is already in use")
    case EADDRNOTAVAIL: throw GatewayError(message: "\(host) is not an address of this machine")
    case EACCES: throw GatewayError(message: "this user may not listen on port \(port)")
    default: throw GatewayError(message: "cannot listen on port \(port) on \(host): \(sentence(problem))")
    }
  }

  /// A second socket at the same address: the system spreads connections over both.
  private static func another(like first: Int32) -> Int32 {
    #if os(Linux)
      var address = sockaddr_storage()
      var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
      return withUnsafeMutablePointer(to: &address) { address in
        address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
          guard getsockname(first, address, &length) == 0, share(first) else { return -1 }
          return bound(address, length, isShared: true)
        }
      }
    #else
      return duplicate(first)
    #endif
  }

  private static func duplicate(_ descriptor: Int32) -> Int32 { fcntl(descriptor, F_DUPFD_CLOEXEC, 0) }

  /// A socket that listens; -1 with `errno`. SO_REUSEADDR only lets a restart ignore old connections.
  private static func bound(_ address: UnsafePointer<sockaddr>, _ length: socklen_t, isShared: Bool) -> Int32 {
    let descriptor = socket(Int32(address.pointee.sa_family), streams, 0)
    guard descriptor >= 0 else { return -1 }
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    var one: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
    if !isShared || share(descriptor), bind(descriptor, address, length) == 0, listen(descriptor, SOMAXCONN) == 0 {
      return descriptor
    }
    let problem = errno
    close(descriptor)
    errno = problem
    return -1
  }

  private static func share(_ descriptor: Int32) -> Bool {
    var one: Int32 = 1
    return setsockopt(descriptor, SOL_SOCKET, SO_REUSEPORT, &one, socklen_t(MemoryLayout<Int32>.size)) == 0
  }

  private static func port(of descriptor: Int32) -> Int? {
    var address = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    return withUnsafeMutablePointer(to: &address) { storage in
      storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        guard getsockname(descriptor, address, &length) == 0 else { return nil }
        switch Int32(address.pointee.sa_family) {
        case AF_INET:
          return address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
            Int(UInt16(bigEndian: $0.pointee.sin_port))
          }
        case AF_INET6:
          return address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
            Int(UInt16(bigEndian: $0.pointee.sin6_port))
          }
        default: return nil
        }
      }
    }
  }

  private static func sentence(_ problem: Int32) -> String { String(cString: strerror(problem)) }

  #if canImport(Glibc)
    private static let streams = Int32(SOCK_STREAM.rawValue)
  #else
    private static let streams = SOCK_STREAM
  #endif
}
