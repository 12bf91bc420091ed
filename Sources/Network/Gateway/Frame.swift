internal import CGateway

/// A WebSocket text message laid out ready to be written: encoded once, sent to any number of sessions without a copy.
/// A stream gets its payload alone.
// @unchecked: the bytes are written before init returns and never again; C counts the references atomically.
package final class Frame: @unchecked Sendable {
  let pointer: OpaquePointer

  static let empty = Frame(payload: EmptyCollection())

  /// Bytes in front of a message that `init(adopting:length:)` needs for its header.
  package static let headroom = Int(GATEWAY_FRAME_HEADROOM)

  /// Takes a message over without copying it.
  ///
  /// - Parameter block: allocated memory, the frame's from now on: `headroom` bytes, then the message, valid UTF-8.
  /// - Parameter length: the message's, in bytes.
  package init(adopting block: UnsafeMutableRawPointer, length: Int) {
    guard let pointer = gateway_frame_create(block, length, { $0?.deallocate() }) else {
      fatalError("out of memory for a frame")
    }
    self.pointer = pointer
  }

  /// A copy of these bytes, valid UTF-8.
  package convenience init(payload: some Collection<UInt8>) {
    let length = payload.count
    let block = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.headroom + length, alignment: 1)
    UnsafeMutableRawBufferPointer(rebasing: block[Self.headroom...]).copyBytes(from: payload)
    self.init(adopting: block.baseAddress!, length: length)
  }

  deinit {
    gateway_frame_release(pointer)
  }

  /// Bytes on the wire, the WebSocket header included.
  package var size: Int { gateway_frame_size(pointer) }
}
