import Broker
import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing

@Suite(.serialized, .enabled(if: BrokerProcess.isInstalled, "nats-server is not installed"))
struct BrokerStreamTests {
  @Test func `A stream that is just being made may be asked for messages`() throws {
    let folder = try TemporaryFolder()
    let broker = try BrokerProcess(storage: folder.path("broker"))
    let address = try #require(BrokerAddress(broker.url("test")))
    let maker = try BrokerConnection(address, name: "maker")
    #expect(comesTrue { maker.isConnected })
    let made = Atomic<Int>(0)
    let streams = 200
    let asking = DispatchGroup()
    for _ in 0..<2 {
      let asker = try BrokerConnection(address, name: "asker")
      DispatchQueue.global().async(group: asking) {
        while made.load(ordering: .relaxed) < streams {
          let name = "s\(made.load(ordering: .relaxed))"
          _ = try? asker.lastMessage(to: name, in: name)
          _ = try? asker.message(1, in: name)
        }
      }
    }
    defer {
      made.store(streams, ordering: .relaxed)
      asking.wait()
      broker.kill()
    }
    for number in 0..<streams {
      try maker.ensure(StreamConfiguration(name: "s\(number)", subject: "s\(number)"))
      made.store(number + 1, ordering: .relaxed)
    }
    #expect(try maker.append([1, 2], to: "s7", id: "one") == 1)
    #expect(try maker.lastMessage(to: "s7", in: "s7")?.message.bytes == [1, 2])
    #expect(try maker.message(1, in: "s7")?.sequence == 1)
    #expect(try maker.message(1, in: "s8") == nil)
    #expect(try maker.lastMessage(to: "none", in: "none") == nil)
  }
}
