import TestSupport
import Testing
import Wire

@testable import Server

/// The history of metrics before a page was opened.
@Suite struct MetricsHistoryTests {
  private func samples(_ history: MetricsHistory) throws -> [[Double]] {
    guard case .array(let samples) = try JSONParser.parse(history.json).required("samples") else { return [] }
    return samples.map { sample in
      guard case .array(let numbers) = sample else { return [] }
      return numbers.map { number in
        switch number {
        case .integer(let value): Double(value)
        case .real(let value): value
        default: .nan
        }
      }
    }
  }

  @Test func `Those with labels are added up, and what is older than ten minutes goes`() throws {
    let history = MetricsHistory()
    for time in stride(from: 0.0, through: 1_200, by: 5) {
      history.add(
        """
        # HELP freshet_sessions Connections.
        freshet_sessions{role="a"} 2
        freshet_sessions{role="b"} 3
        freshet_ticks_total \(Int(time))
        freshet_other 7
        freshet_ticks 99
        """, at: time)
    }
    let all = try samples(history)
    #expect(all.count == 121 && all.first?.first == 600 && all.last?.first == 1_200)
    let sessions = try #require(MetricsHistory.names.firstIndex(of: "freshet_sessions")) + 1
    let ticks = try #require(MetricsHistory.names.firstIndex(of: "freshet_ticks_total")) + 1
    #expect(all.last?[sessions] == 5 && all.last?[ticks] == 1_200)
  }
}
