import Testing

@testable import Broker

@Suite("Addresses of logs")
struct BrokerAddressTests {
  @Test("Servers, stream and TLS are read; descriptions hide passwords")
  func reading() throws {
    let address = try #require(BrokerAddress("tls://ann:secret@a.example:4223,b.example/shop-1"))
    #expect(address.servers == ["tls://ann:secret@a.example:4223", "tls://ann:secret@b.example"])
    #expect(address.stream == "shop-1")
    #expect(address.usesTLS)
    #expect(address.description == "tls://a.example:4223,b.example/shop-1")
  }

  @Test(
    "What is no address is refused",
    arguments: [
      "", "shop", "http://a/shop", "nats://a", "nats://a/", "nats:///shop", "nats://a/sh.op", "nats://a,/shop",
      "nats://a/b/c", "nats://a/sh op",
    ])
  func refusal(_ text: String) { #expect(BrokerAddress(text) == nil) }
}
