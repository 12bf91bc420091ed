import Ground

/// The last start of the machine. Unsynced writes of a process outlive it, but not the machine.
package enum MachineStart {
  /// The machine's name of the time since then; empty where it has none.
  package static let name: String = {
    let descriptor = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
    if descriptor < 0 { return "" }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = bytes.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
    return String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
  }()

  /// Whether the machine has a name for the time since then, and it is this one.
  package static func isCurrent(_ name: String) -> Bool { !name.isEmpty && name == self.name }
}
