import COpenSSL
import Foundation

/// A blocking connection to a server, for one request.
///
/// Owner: the thread that makes it. Mutable state: `session`, the TLS session of an https connection.
final class ServerConnection {
  /// The certificates that are accepted for the server.
  enum Trust {
    /// The system's authorities, or those of a file in PEM format.
    case authorities(String?)
    /// Every certificate: for a server on this machine, reached over loopback.
    case anyone
  }

  /// An error, as one sentence.
  struct Failure: Error {
    let sentence: String
  }

  private let descriptor: Int32
  private var session: OpaquePointer?

  /// - Parameter address: with the scheme http or https, and a host.
  /// - Parameter patience: seconds that connecting, and each read, may take.
  init(_ address: URLComponents, trusting trust: Trust, patience: Int) throws(Failure) {
    let isSecure = address.scheme == "https"
    let host = (address.host ?? "").trimmingCharacters(in: ["[", "]"])
    let port = address.port ?? (isSecure ? 443 : 80)
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var list: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, String(port), &hints, &list) == 0 else {
      throw Failure(sentence: "there is no host \(host)")
    }
    defer { freeaddrinfo(list) }
    descriptor = Self.connect(list, patience)
    if descriptor < 0 { throw Failure(sentence: "nothing listens at \(host):\(port)") }
    if isSecure { try startTLS(host, trust) }
  }

  deinit {
    SSL_free(session)
    if descriptor >= 0 { close(descriptor) }
  }

  /// Connects to the first address that accepts; -1 if none does.
  private static func connect(_ list: UnsafeMutablePointer<addrinfo>?, _ patience: Int) -> Int32 {
    var next = list
    while let address = next?.pointee {
      let descriptor = socket(address.ai_family, address.ai_socktype, 0)
      var limit = timeval(tv_sec: patience, tv_usec: 0)
      for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
        setsockopt(descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
      }
      if Foundation.connect(descriptor, address.ai_addr, address.ai_addrlen) == 0 { return descriptor }
      close(descriptor)
      next = address.ai_next
    }
    return -1
  }

  private func startTLS(_ host: String, _ trust: Trust) throws(Failure) {
    let context = SSL_CTX_new(TLS_client_method())
    // The session keeps a reference of its own.
    defer { SSL_CTX_free(context) }
    if case .authorities(let file) = trust {
      SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
      if let file {
        if SSL_CTX_load_verify_locations(context, file, nil) != 1 {
          throw Failure(sentence: "\(file) holds no certificate in PEM format")
        }
      } else {
        SSL_CTX_set_default_verify_paths(context)
      }
    }
    session = SSL_new(context)
    var address = in6_addr()
    let isAddress = inet_pton(AF_INET, host, &address) == 1 || inet_pton(AF_INET6, host, &address) == 1
    if isAddress {
      X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session), host)
    } else {
      SSL_set1_host(session, host)
      // SSL_set_tlsext_host_name, a macro.
      var name = Array(host.utf8CString)
      SSL_ctrl(session, SSL_CTRL_SET_TLSEXT_HOSTNAME, Int(TLSEXT_NAMETYPE_host_name), &name)
    }
    SSL_set_fd(session, descriptor)
    guard SSL_connect(session) != 1 else { return }
    let verdict = SSL_get_verify_result(session)
    if verdict != X509_V_OK, let reason = X509_verify_cert_error_string(verdict) {
      throw Failure(sentence: "the certificate of \(host) is not trusted: \(String(cString: reason))")
    }
    throw Failure(sentence: "the server at \(host) does not answer with TLS")
  }

  struct Answer {
    /// The status line; empty when no answer came in time.
    let status: String
    let body: String

    var isOK: Bool { status.split(separator: " ").dropFirst().first == "200" }
  }

  /// Sends a GET and reads up to `limit` bytes of the answer.
  func get(_ target: String, host: String, headers: [String] = [], limit: Int) -> Answer {
    let lines = ["GET \(target) HTTP/1.0", "Host: \(host)"] + headers
    write(lines.joined(separator: "\r\n") + "\r\n\r\n")
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 16 << 10)
    while bytes.count < limit {
      let count = read(&buffer)
      if count <= 0 { break }
      bytes += buffer.prefix(count)
    }
    let text = String(decoding: bytes, as: UTF8.self)
    let status = text.prefix { !$0.isNewline }
    let body = text.firstRange(of: "\r\n\r\n").map { text[$0.upperBound...] } ?? ""
    return Answer(status: String(status), body: String(body))
  }

  private func write(_ text: String) {
    let bytes = Array(text.utf8)
    if let session {
      SSL_write(session, bytes, Int32(bytes.count))
    } else {
      send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }
  }

  private func read(_ buffer: inout [UInt8]) -> Int {
    if let session { return Int(SSL_read(session, &buffer, Int32(buffer.count))) }
    return Foundation.read(descriptor, &buffer, buffer.count)
  }
}
