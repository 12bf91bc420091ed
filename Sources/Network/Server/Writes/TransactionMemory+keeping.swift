import Ground
import LiveQuery
import Store
import Wire

// The state of repeatable transactions for the next process: JSON, with values as clients write them.
extension TransactionMemory {
  /// Finished transactions, the oldest first; nil while one with an unknown outcome is running.
  var kept: [UInt8]? {
    var writer = JSONWriter()
    var isWhole = true
    writer.array { list in
      forEach { key, outcome in
        guard let outcome else { return isWhole = false }
        list.object { object in
          object.members(of: key)
          object.name("outcome")
          object.append(ForwardedOutcome(outcome, epoch: "").json)
        }
      }
    }
    return isWhole ? writer.bytes : nil
  }

  /// Restores the state of another process.
  ///
  /// - Returns: nil unless `kept` is empty or was returned by `kept`.
  init?(limit: Int, kept: [UInt8], at now: Instant) {
    self.init(limit: limit)
    if kept.isEmpty { return }
    guard case .array(let entries)? = try? JSONParser.parse(kept) else { return nil }
    for entry in entries {
      guard let key = try? Key(entry), let outcome = try? ForwardedOutcome(entry.required("outcome")).outcome else {
        return nil
      }
      add(key, outcome, at: now)
    }
  }
}
