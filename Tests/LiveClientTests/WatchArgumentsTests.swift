import LiveClient
import TestSupport
import Testing
import Wire

/// Addresses and queries as a command line gives them.
@Suite struct WatchArgumentsTests {
  @Test(arguments: [
    ("http://h:81", "h 81 /v1/live false"), ("https://h", "h 443 /v1/live true"), ("h:81", "h 81 /v1/live false"),
    ("http://h/base/", "h 80 /base/v1/live false"), ("ws://h:81/", "h 81 /v1/live false"),
    ("WSS://h/x?y=1", "h 443 /x?y=1 true"), ("ws://[::1]:81", "::1 81 /v1/live false"),
    ("http://[fe80::1]", "fe80::1 80 /v1/live false"),
  ])
  func `Addresses`(url: String, expected: String) throws {
    let endpoint = try Endpoint(url: url)
    #expect("\(endpoint.host) \(endpoint.port) \(endpoint.path) \(endpoint.isSecure)" == expected)
  }

  @Test(arguments: [
    "ftp://h", "http://", "http://:80", "http://h:0", "http://h:x", "http://h:70000", "http://u@h", "http://h h",
    "http://h/a b", "http://[::1]x", "http://h?x", "http://h/\r\nX: y",
  ])
  func `What is no address is refused`(url: String) {
    #expect(throws: LiveClientError.self) { try Endpoint(url: url) }
  }

  private func text(_ change: (inout WatchQuery) -> Void) throws -> String {
    var query = WatchQuery()
    change(&query)
    return try query.json().jsonText
  }

  @Test func `Queries`() throws {
    #expect(try text { $0.query = "well" } == #"{"from":"well"}"#)
    #expect(try text { $0.query = " {\"from\": \"t\", \"limit\": 3}" } == #"{"from":"t","limit":3}"#)
    #expect(
      try text {
        $0.query = "t"
        $0.select = ["a, max(b, ',')", "\"x,y\""]
        $0.orderBy = ["a DESC"]
        $0.filter = "a > :n"
        $0.sectionBy = "b"
        $0.parameters = ["n=1", "m=x=y", "r=1.5", "e="]
      }
        == #"{"from":"t","orderBy":["a DESC"],"params":{"e":"","m":"x=y","n":1,"r":1.5},"sectionBy":"b","#
        + #""select":["a"," max(b, ',')","\"x,y\""],"where":"a > :n"}"#)
    #expect(
      try text {
        $0.name = "banks"
        $0.parameters = ["state=GA"]
      } == #"{"name":"banks","params":{"state":"GA"}}"#)
  }

  @Test func `What is no query is refused`() {
    #expect(throws: LiveClientError.self) { try text { _ in } }
    #expect(throws: LiveClientError.self) { try text { ($0.query, $0.name) = ("t", "n") } }
    #expect(throws: LiveClientError.self) { try text { $0.query = "{nonsense" } }
    #expect(throws: LiveClientError.self) { try text { ($0.query, $0.parameters) = ("t", ["=1"]) } }
    #expect(throws: LiveClientError.self) { try text { ($0.query, $0.parameters) = ("t", ["x"]) } }
  }
}
