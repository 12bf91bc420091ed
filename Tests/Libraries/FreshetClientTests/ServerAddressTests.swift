import Foundation
import LiveQuery
import Testing

@testable import FreshetRemote

/// Addresses of servers.
@Suite struct ServerAddressTests {
  @Test(arguments: [
    ("http://h:81", "ws://h:81/v1/live"), ("https://h", "wss://h:443/v1/live"), ("h:81", "ws://h:81/v1/live"),
    ("http://h/base/", "ws://h:80/base/v1/live"), ("ws://h:81/", "ws://h:81/v1/live"),
    ("WSS://h/x?y=1", "wss://h:443/x?y=1"), ("ws://[::1]:81", "ws://[::1]:81/v1/live"),
    ("http://[fe80::1]", "ws://[fe80::1]:80/v1/live"),
  ])
  func `Addresses`(url: String, expected: String) throws {
    #expect(try ServerAddress(url).url.absoluteString == expected)
  }

  @Test(arguments: [
    ("http://h", "acme", "ws://h:80/db/acme/v1/live"),
    ("http://h/base", "a/b ä", "ws://h:80/base/db/a%2Fb%20%C3%A4/v1/live"),
    ("ws://h:81/v1/live", "..", "ws://h:81/db/%2E%2E/v1/live"), ("h", "a?b#c%", "ws://h:80/db/a%3Fb%23c%25/v1/live"),
  ])
  func `One of several databases`(url: String, name: String, expected: String) throws {
    #expect(try ServerAddress(url, database: name).url.absoluteString == expected)
  }

  @Test(arguments: [
    "ftp://h", "http://", "http://:80", "http://h:0", "http://h:x", "http://h:70000", "http://u@h", "http://h h",
    "http://h/a b", "http://[::1]x", "http://h?x", "http://h/\r\nX: y",
  ])
  func `What is no address is refused`(url: String) {
    #expect(throws: FreshetError.self) { try ServerAddress(url) }
  }
}
