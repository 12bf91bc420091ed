import ArgumentParser
import LiveQuery
import Server
import Store

/// Options to read files whose application has collations, tokenizers and functions of its own.
struct ReadingOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "A library of SQLite extensions, which every connection loads: LIBRARY, or LIBRARY:ENTRYPOINT; can be repeated.",
      valueName: "library"))
  var `extension`: [String] = []

  @Option(
    help: ArgumentHelp(
      "Compare by BINARY, NOCASE or RTRIM where a column names a collation of its application's. Order and search may differ from the "
        + "application's; nothing can be written through it. Can be repeated.", valueName: "name=base"))
  var collation: [String] = []

  @Option(
    help: ArgumentHelp(
      "Let FTS5 cut words by another tokenizer (unicode61) where a table names one of its application's; can be repeated.",
      valueName: "name=base"))
  var tokenizer: [String] = []

  /// To be called before anything is opened.
  func apply(_ file: ForeignPartsSettings = ForeignPartsSettings()) throws {
    var settings = file
    if !self.extension.isEmpty { settings.extensions = self.extension }
    for (name, base) in try pairs(collation, "--collation") { settings.collations[name] = base }
    for (name, base) in try pairs(tokenizer, "--tokenizer") { settings.tokenizers[name] = base }
    do { try settings.apply() } catch { throw CommandFailure("\(error)") }
  }

  private func pairs(_ list: [String], _ option: String) throws -> [(String, String)] {
    try list.map { text in
      let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
      guard parts.count == 2 else { throw ValidationError("\(option) must be NAME=BASE, such as unicase=nocase") }
      return (parts[0], parts[1])
    }
  }
}
