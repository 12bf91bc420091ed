import CZlib

/// Bodies in gzip coding (RFC 1952), by zlib.
enum GzipEncoding {
  /// Whether an Accept-Encoding header allows gzip: RFC 9110, 12.5.3. A missing header does not.
  static func isAccepted(_ header: String?) -> Bool {
    var quality: [String: Double] = [:]
    for part in (header ?? "").split(separator: ",") {
      let pieces = part.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
      guard let coding = pieces.first else { continue }
      let weight = pieces.dropFirst().first { $0.hasPrefix("q=") }
      quality[coding] = weight.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
    }
    return (quality["gzip"] ?? quality["x-gzip"] ?? quality["*"] ?? 0) > 0
  }

  /// Nil when there is no memory for it.
  static func encode(_ bytes: [UInt8]) -> [UInt8]? {
    // The largest window, plus 16, which has zlib write a gzip header.
    let gzipWindow: Int32 = 15 + 16
    // Speed over size: level 6 takes twice as long for a few percent.
    let level: Int32 = 4
    var stream = z_stream()
    let size = Int32(MemoryLayout<z_stream>.size)
    guard deflateInit2_(&stream, level, Z_DEFLATED, gzipWindow, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size) == Z_OK
    else { return nil }
    defer { deflateEnd(&stream) }
    var output = [UInt8](repeating: 0, count: Int(deflateBound(&stream, uLong(bytes.count))))
    var input = bytes
    let code = input.withUnsafeMutableBufferPointer { input in
      output.withUnsafeMutableBufferPointer { output in
        stream.next_in = input.baseAddress
        stream.avail_in = uInt(input.count)
        stream.next_out = output.baseAddress
        stream.avail_out = uInt(output.count)
        return deflate(&stream, Z_FINISH)
      }
    }
    guard code == Z_STREAM_END else { return nil }
    output.removeLast(Int(stream.avail_out))
    return output
  }
}
