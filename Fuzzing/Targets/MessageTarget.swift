import LiveQuery

@testable import Wire

/// Messages of clients, and any JSON, which stays the same when it is written and read again.
enum MessageTarget {
  static func run(_ input: UnsafeRawBufferPointer) -> Bool {
    do throws(ClientMessageError) {
      let (id, _) = try ClientMessage.parse(input)
      check(!id.isEmpty || input.count > 0, "a message without an id")
    } catch {
      check(error.error.code != .internal, "internal error: \(error.error.message)")
    }
    guard let json = try? JSONParser.parse(input) else { return true }
    let text = json.jsonText
    guard let again = try? JSONParser.parse(text) else { fatalError("what was written is no JSON: \(text)") }
    check(
      again.kind == json.kind && again.jsonText.utf8.elementsEqual(text.utf8),
      "read again it is \(again.jsonText), not \(text)")
    if let query = try? Query(json: json) { check(query == query, "a query that is not itself") }
    return true
  }
}
