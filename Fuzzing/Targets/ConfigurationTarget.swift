@testable import Server

/// The configuration file: what is wrong with it is a sentence that names the file.
enum ConfigurationTarget {
  static func run(_ input: UnsafeRawBufferPointer) -> Bool {
    let text = String(decoding: input, as: UTF8.self)
    // Absolute paths of keys would be opened.
    if text.contains("/") { return false }
    do throws(ServerError) {
      _ = try ConfigurationFile(yaml: text, name: "x.yaml", folder: "/nonexistent", environment: ["SECRET": text])
    } catch { check("\(error)".contains("x.yaml"), "\(error) names no file") }
    return true
  }
}
