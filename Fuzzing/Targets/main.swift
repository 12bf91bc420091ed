// freshet-fuzz TARGET [libFuzzer's options] [folders of inputs]: see scripts/fuzz.sh and docs/reliability.md.
import CFuzzing
import Foundation

/// The target of an input; returns -1 for inputs that are not worth keeping.
typealias Target = @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt

let targets: [(name: String, run: Target)] = [
  ("query", { fuzz($0, $1, QueryTarget.run) }),
  ("fragment", { fuzz($0, $1, FragmentTarget.run) }),
  ("connection", { fuzz_connection($0, $1) }),
  ("proxies", { fuzz($0, $1, ProxiesTarget.run) }),
  ("pages", { fuzz($0, $1, PagesTarget.run) }),
  ("wal", { fuzz($0, $1, WALTarget.run) }),
  ("state", { fuzz($0, $1, StateTarget.run) }),
  ("message", { fuzz($0, $1, MessageTarget.run) }),
  ("token", { fuzz($0, $1, TokenTarget.run) }),
  ("url", { fuzz($0, $1, URLTarget.run) }),
  ("yaml", { fuzz($0, $1, ConfigurationTarget.run) }),
]

/// - Returns: 0, or -1 for an input that libFuzzer need not keep.
func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int, _ body: @Sendable (UnsafeRawBufferPointer) -> Bool) -> CInt {
  body(UnsafeRawBufferPointer(start: bytes, count: count)) ? 0 : -1
}

/// A property of a target: libFuzzer keeps the input that breaks it.
func check(_ condition: Bool, _ sentence: @autoclosure () -> String) {
  if !condition { fatalError(sentence()) }
}

// libFuzzer starts itself again to merge and to minimize, without the name.
let inherited = ProcessInfo.processInfo.environment["FRESHET_FUZZ_TARGET"]
let name = inherited ?? CommandLine.arguments.dropFirst().first ?? ""
guard let target = targets.first(where: { $0.name == name }) else {
  print(targets.map(\.name).joined(separator: "\n"))
  exit(name.isEmpty ? 0 : 2)
}
setenv("FRESHET_FUZZ_TARGET", name, 1)
let skipped: CInt = inherited == nil ? 1 : 0
var count = CommandLine.argc - skipped
let rest = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: Int(count) + 1)
rest[0] = CommandLine.unsafeArgv[0]
for index in 1...max(Int(count), 1) { rest[index] = CommandLine.unsafeArgv[index + Int(skipped)] }
var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = rest
exit(LLVMFuzzerRunDriver(&count, &arguments, target.run))
