internal import CGateway

/// A WebSocket text message laid out ready to be written: encoded once, sent to any number of sessions without a copy. A
/// stream gets its payload alone.
// @unchecked: the bytes are written before init returns and never again; C counts the references atomically.
package final class Frame: @unchecked Sendable {
  let pointer: OpaquePointer

  /// A message of at most `capacity` bytes: `fill` writes valid UTF-8 into the buffer and returns how many there are.
  package init<E: Error>(
    capacity: Int, fill: (_ buffer: UnsafeMutableRawBufferPointer) throws(E) -> Int
  ) throws(E) {
    guard let pointer = gateway_frame_create(capacity) else { fatalError("out of memory for a frame") }
    let buffer = UnsafeMutableRawBufferPointer(start: gateway_frame_payload(pointer), count: capacity)
    do {
      let length = try fill(buffer)
      precondition(0...capacity ~= length, "a frame was filled beyond its capacity")
      gateway_frame_finish(pointer, length)
    } catch {
      gateway_frame_release(pointer)
      throw error
    }
    self.pointer = pointer
  }

  /// A message of these bytes, valid UTF-8.
  package convenience init(payload: some Collection<UInt8>) {
    self.init(capacity: payload.count) { buffer in
      buffer.copyBytes(from: payload)
      return payload.count
    }
  }

  deinit {
    gateway_frame_release(pointer)
  }

  /// Bytes on the wire, the WebSocket header included.
  package var size: Int { gateway_frame_size(pointer) }
}
