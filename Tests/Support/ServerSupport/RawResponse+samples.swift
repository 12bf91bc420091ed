package import TestSupport

extension RawResponse {
  /// The values of an answer of `/metrics`, by their names and labels.
  package var samples: [String: Double] {
    var samples: [String: Double] = [:]
    for line in text.split(separator: "\n") where !line.hasPrefix("#") {
      let words = line.split(separator: " ")
      samples[String(words[0])] = Double(words[1])
    }
    return samples
  }
}
