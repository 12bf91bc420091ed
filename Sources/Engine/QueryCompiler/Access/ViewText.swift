import LiveQuery
import Store

/// A parsed CREATE VIEW statement: its SELECT without comments, and without `main.` before names, so that shadows can
/// replace the named tables.
struct ViewText {
  let columnList: String
  let select: String
  let names: Set<String>

  init(_ definition: String) {
    let tokenizer = SQLTokenizer(definition)
    let tokens = tokenizer.filter { $0.kind != .comment && tokenizer.text(of: $0) != ";" }
    let texts = tokens.map { tokenizer.text(of: $0) }
    let start =
      tokens.indices.first { tokens[$0].kind == .identifier && isSameName(texts[$0], "AS") } ?? tokens.endIndex
    let list = tokens.indices.first { texts[$0] == "(" && $0 < start }
    columnList = list.map { texts[$0..<start].joined(separator: " ") } ?? ""
    var words: [String] = []
    var names: Set<String> = []
    var index = min(start + 1, tokens.endIndex)
    while index < tokens.endIndex {
      let name = tokenizer.unquotedText(of: tokens[index])
      let isSchema = isSameName(name, "main") && index + 1 < tokens.endIndex && texts[index + 1] == "."
      if isSchema {
        index += 2
        continue
      }
      names.insert(name.lowercased())
      words.append(texts[index])
      index += 1
    }
    select = words.joined(separator: " ")
    self.names = names
  }
}
