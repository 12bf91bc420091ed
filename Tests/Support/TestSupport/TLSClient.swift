internal import COpenSSL
import Foundation

package enum TLSVersion: Int, Sendable {
  case v1_1 = 0x302
  case v1_2 = 0x303
  case v1_3 = 0x304
}

/// TLS over a connected, blocking socket.
final class TLSClient {
  private let context: OpaquePointer
  private let connection: OpaquePointer

  init(_ descriptor: Int32, trusting certificate: String, version: TLSVersion?) throws {
    context = SSL_CTX_new(TLS_client_method())
    connection = SSL_new(context)
    SSL_CTX_load_verify_locations(context, certificate, nil)
    SSL_set_verify(connection, SSL_VERIFY_PEER, nil)
    if let version {
      // OpenSSL offers older versions only at its lowest level of security.
      SSL_set_security_level(connection, 0)
      SSL_ctrl(connection, SSL_CTRL_SET_MIN_PROTO_VERSION, version.rawValue, nil)
      SSL_ctrl(connection, SSL_CTRL_SET_MAX_PROTO_VERSION, version.rawValue, nil)
    }
    // Offers the protocols that browsers offer.
    let protocols = Array("\u{2}h2\u{8}http/1.1".utf8)
    SSL_set_alpn_protos(connection, protocols, UInt32(protocols.count))
    SSL_set_fd(connection, descriptor)
    guard SSL_connect(connection) == 1 else {
      let reason = ERR_reason_error_string(ERR_get_error()).map { String(cString: $0) }
      throw RawSocket.Failure(description: "TLS: \(reason ?? "the server hung up")")
    }
  }

  deinit {
    SSL_shutdown(connection)
    SSL_free(connection)
    SSL_CTX_free(context)
  }

  /// `application` is the protocol that the server chose by ALPN; empty: none.
  var details: (serial: Int, version: String, application: String) {
    let certificate = SSL_get1_peer_certificate(connection)
    defer { X509_free(certificate) }
    var name: UnsafePointer<UInt8>?
    var length: UInt32 = 0
    SSL_get0_alpn_selected(connection, &name, &length)
    return (
      ASN1_INTEGER_get(X509_get_serialNumber(certificate)), String(cString: SSL_get_version(connection)),
      String(decoding: UnsafeBufferPointer(start: name, count: Int(length)), as: UTF8.self)
    )
  }

  func write(_ bytes: UnsafeRawBufferPointer) -> Int {
    ERR_clear_error()
    return Int(SSL_write(connection, bytes.baseAddress, Int32(bytes.count)))
  }

  /// 0 at an end that the server has announced; an end without that is an error.
  func read(_ bytes: UnsafeMutableRawBufferPointer) -> Int {
    ERR_clear_error()
    let count = SSL_read(connection, bytes.baseAddress, Int32(bytes.count))
    if count > 0 { return Int(count) }
    return SSL_get_error(connection, count) == SSL_ERROR_ZERO_RETURN ? 0 : -1
  }
}

/// A certificate for localhost, signed by itself, and its key, as `openssl` makes them.
package struct TestCertificate {
  package let certificate: String
  package let key: String

  /// - Parameter hosts: the names in it, as OpenSSL takes them.
  package init(
    in folder: TemporaryFolder, name: String = "tls", serial: Int = 1, hosts: String = "DNS:localhost,IP:127.0.0.1"
  ) throws {
    certificate = folder.path("\(name).crt")
    key = folder.path("\(name).key")
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [
      "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
      "-subj", "/CN=localhost", "-addext", "subjectAltName=\(hosts)", "-set_serial", "\(serial)",
      "-keyout", key, "-out", certificate,
    ]
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw RawSocket.Failure(description: "openssl made no certificate") }
  }
}
