import LiveQuery
import Wire

/// The parameters of a URL, decoded: `+` and `%20` are spaces, as forms write them.
struct QueryString {
  /// In the order given.
  let items: [(name: String, value: String)]

  init(_ text: String) {
    items = text.split(separator: "&").map { part in
      let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      return (QueryString.decode(pair[0]), pair.count > 1 ? QueryString.decode(pair[1]) : "")
    }
  }

  private static func decode(_ text: Substring) -> String {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "+") {
        bytes.append(UInt8(ascii: " "))
      } else if byte == UInt8(ascii: "%"), rest.count >= 2,
        let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
      {
        bytes.append(value)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension JSONValue {
  /// - Throws: `bad_message`, with `what` naming the place.
  init(body: [UInt8], what: String = "the body") throws(FreshetError) {
    do throws(JSONError) { self = try JSONParser.parse(body) } catch {
      throw FreshetError(.badMessage, "\(what) is not JSON: \(error.message), at byte \(error.offset)")
    }
  }
}
