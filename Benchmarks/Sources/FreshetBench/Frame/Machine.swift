import Foundation

/// The machine of all benchmarks.
enum Machine {
  static var description: String {
    let info = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)) ?? ""
    let model = info.firstMatch(of: /model name\s*: (.+)/).map { String($0.1) } ?? "unknown processor"
    return "\(ProcessInfo.processInfo.activeProcessorCount) × \(model)"
  }

  /// For this process and those that it starts.
  static func allowDescriptors(_ count: UInt64) {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    limit.rlim_cur = min(rlim_t(count), limit.rlim_max)
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }
}
