import Wire

/// What a follower knows besides what its capture remembers, as it is kept with that: of which epoch and commits it is.
struct KeptMemory: Sendable {
  /// The epoch that the numbers belong to.
  var epoch: String
  /// The highest number that was given until then.
  var highest: Int64
  /// By name, the first commit at which each table certainly was as it was last.
  var tables: [String: Int64] = [:]
  /// By the name of its query, the commit from which on each list was what it was last, of those that were followed.
  var lists: [String: Int64] = [:]
  /// The commits that ticks have seen.
  var seen = SeenCommits()

  init(epoch: String, highest: Int64) {
    self.epoch = epoch
    self.highest = highest
  }

  /// - Returns: nil for anything but what `encoded` wrote.
  init?(_ bytes: [UInt8]) {
    guard let json = try? JSONParser.parse(bytes), case .string(let epoch)? = json["epoch"], !epoch.isEmpty,
      let highest = json["highest"]?.commit, let tables = json["tables"]?.commits,
      let lists = json["lists"]?.commits, case .array(let ranges)? = json["seen"]
    else { return nil }
    self.init(epoch: epoch, highest: highest)
    self.tables = tables
    self.lists = lists
    for range in ranges {
      guard case .array(let ends) = range, ends.count == 2, let first = ends[0].commit, let last = ends[1].commit,
        first <= last, last <= highest, seen.add(first...last)
      else { return nil }
    }
  }

  var encoded: [UInt8] {
    var writer = JSONWriter()
    writer.object { object in
      object.member("epoch", epoch)
      object.name("highest")
      object.integer(highest)
      object.name("tables")
      object.commits(tables)
      object.name("lists")
      object.commits(lists)
      object.name("seen")
      object.array { list in
        for range in seen.newest {
          list.array { ends in
            ends.integer(range.lowerBound)
            ends.integer(range.upperBound)
          }
        }
      }
    }
    return writer.bytes
  }
}

extension JSONWriter {
  fileprivate mutating func commits(_ commits: [String: Int64]) {
    object { object in
      for (name, commit) in commits {
        object.name(escaping: name)
        object.integer(commit)
      }
    }
  }
}

extension JSONValue {
  fileprivate var commits: [String: Int64]? {
    guard case .object(let members) = self else { return nil }
    let commits = members.compactMapValues(\.commit)
    return commits.count == members.count ? commits : nil
  }

  fileprivate var commit: Int64? {
    if case .integer(let commit) = self, commit >= 0 { commit } else { nil }
  }
}
