/// One row of the demo's main table.
struct Well: Sendable {
  var name: String
  /// Index in `County.all`; the database counts from 1.
  var county: Int
  /// Index in `Operators.names`; the database counts from 1.
  var `operator`: Int
  var status: String
  /// Feet.
  var depth: Double
  /// ISO 8601; nil for a well that is not begun.
  var spudDate: String?
}

extension Well {
  static let statuses = ["Producing", "Shut-in", "Plugged", "Completed", "Injecting", "Drilling", "Permitted"]

  private static let statusChoice = WeightedChoice([54, 13, 16, 6, 5, 3, 3])
  private static let countyChoice = WeightedChoice(County.all.map(\.weight))

  /// A random well, in the given county or a random one.
  static func random(_ generator: inout DemoGenerator, county: Int? = nil) -> Well {
    let status = randomStatus(&generator)
    return Well(
      name: WellNames.name(&generator),
      county: county ?? randomCounty(&generator),
      operator: Operators.choice.index(&generator),
      status: status,
      depth: randomDepth(&generator),
      spudDate: status == "Permitted" ? nil : randomDate(&generator))
  }

  static func randomCounty(_ generator: inout DemoGenerator) -> Int { countyChoice.index(&generator) }

  static func randomStatus(_ generator: inout DemoGenerator) -> String { statuses[statusChoice.index(&generator)] }

  /// Tenths of a foot, 1,100 to 23,000: two draws, so that the middle is the most frequent.
  static func randomDepth(_ generator: inout DemoGenerator) -> Double {
    Double(generator.number(in: 5_500...115_000) + generator.number(in: 5_500...115_000)) / 10
  }

  static func randomDate(_ generator: inout DemoGenerator) -> String {
    // The later of two years: most wells are young.
    let year = max(generator.number(in: 1948...2024), generator.number(in: 1948...2024))
    return "\(year)-\(twoDigits(generator.number(in: 1...12)))-\(twoDigits(generator.number(in: 1...28)))"
  }
}
