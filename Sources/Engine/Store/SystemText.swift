import Ground

/// Reads text files of the system, such as those in `/proc`.
enum SystemText {
  /// The lines of a file with their line ends; empty if the file does not exist.
  static func lines(_ path: String) -> [String] {
    guard let file = fopen(path, "r") else { return [] }
    defer { fclose(file) }
    var lines: [String] = []
    var line: UnsafeMutablePointer<CChar>?
    var capacity = 0
    defer { free(line) }
    while getline(&line, &capacity, file) > 0, let text = line { lines.append(String(cString: text)) }
    return lines
  }
}
