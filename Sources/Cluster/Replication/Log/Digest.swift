import COpenSSL

/// The SHA-256 of bytes that arrive in pieces.
struct Digest: ~Copyable {
  static let size = 32
  private let context = EVP_MD_CTX_new()

  init() { EVP_DigestInit_ex(context, EVP_sha256(), nil) }

  deinit { EVP_MD_CTX_free(context) }

  func add(_ bytes: UnsafeRawBufferPointer) { EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) }

  func add(_ bytes: [UInt8]) { bytes.withUnsafeBytes { add($0) } }

  consuming func value() -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: Self.size) { buffer, count in
      EVP_DigestFinal_ex(context, buffer.baseAddress, nil)
      count = Self.size
    }
  }
}
