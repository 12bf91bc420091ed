import Foundation

/// The terminal as a full screen: switched on and off again.
/// State: `original`, the former settings, while the screen is on. Used from the main thread alone.
final class Terminal {
  private var original: termios?
  private var isOn = false

  static var isOutput: Bool { isatty(STDOUT_FILENO) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb" }

  /// <https://no-color.org>
  static var hasColor: Bool { ProcessInfo.processInfo.environment["NO_COLOR", default: ""].isEmpty }

  /// In cells.
  static var size: (width: Int, height: Int) {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return (80, 24) }
    return (Int(size.ws_col), Int(size.ws_row))
  }

  func enter() {
    isOn = true
    if isatty(STDIN_FILENO) == 1 {
      var settings = termios()
      tcgetattr(STDIN_FILENO, &settings)
      original = settings
      settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
      // Ctrl-Z is disabled: it would leave the shell with the alternate screen.
      withUnsafeMutableBytes(of: &settings.c_cc) { $0[Int(VSUSP)] = 0 }
      tcsetattr(STDIN_FILENO, TCSANOW, &settings)
    }
    // Alternate screen, no cursor, no line wrap.
    write("\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l")
  }

  /// Restores the terminal as it was before `enter`.
  func leave() {
    guard isOn else { return }
    isOn = false
    write("\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l")
    if var original { tcsetattr(STDIN_FILENO, TCSANOW, &original) }
  }

  func draw(_ lines: [String]) {
    write("\u{1B}[H" + lines.map { $0 + "\u{1B}[K" }.joined(separator: "\r\n"))
  }

  private func write(_ text: String) { StandardOutput.write(text) }
}

/// Standard output, unbuffered.
enum StandardOutput {
  /// Ends the process in order when its output is no longer read.
  static func write(_ text: String) { write(Array(text.utf8)) }

  static func write(_ bytes: [UInt8]) {
    var written = 0
    bytes.withUnsafeBytes { buffer in
      while written < buffer.count {
        let count = Foundation.write(STDOUT_FILENO, buffer.baseAddress! + written, buffer.count - written)
        if count > 0 {
          written += count
        } else if errno == EAGAIN {
          usleep(1_000)
        } else if errno != EINTR {
          exit(0)
        }
      }
    }
  }

  static func warn(_ sentence: String) { FileHandle.standardError.write(Data("freshet: \(sentence)\n".utf8)) }
}
