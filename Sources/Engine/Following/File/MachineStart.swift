import Ground

/// The last start of the machine. A process's writes without a sync survive the end of the process, but not a restart.
package enum MachineStart {
  /// The machine's id of the time since its start; empty if it has no such id.
  package static let name: String = {
    let descriptor = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
    if descriptor < 0 { return "" }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = bytes.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
    return String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
  }()

  /// Whether this is the present id. False if the machine has no id.
  package static func isCurrent(_ name: String) -> Bool { !name.isEmpty && name == self.name }
}
