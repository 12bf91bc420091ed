/// A bank that has failed, and how: one row of `bank` and the row of `closing` that belongs to it.
struct Bank: Sendable {
  var name: String
  var city: String
  /// Postal code.
  var state: String
  /// The number of its insurance certificate; no two banks have one.
  var certificate: Int
  var closing: BankClosing
}

/// How a bank ended.
struct BankClosing: Sendable {
  /// ISO 8601; a Friday, as regulators usually close banks.
  var date: String
  /// Nil when no bank took it over.
  var acquirer: String?
  /// Millions of dollars.
  var assets: Double
}

extension Bank {
  /// A random bank.
  ///
  /// - Parameter previous: the highest certificate so far; the new bank's is higher.
  static func random(_ generator: inout DemoGenerator, after previous: Int) -> Bank {
    let city = BankNames.city(&generator)
    return Bank(
      name: BankNames.name(&generator, city: city),
      city: city,
      state: states[stateChoice.index(&generator)].0,
      certificate: previous + generator.number(in: 3...90),
      closing: BankClosing(
        date: BankClosing.randomDate(&generator), acquirer: BankClosing.randomAcquirer(&generator),
        assets: BankClosing.randomAssets(&generator)))
  }

  private static let stateChoice = WeightedChoice(states.map(\.1))

  /// States with their weights: most banks failed where loans on expensive land were common.
  private static let states: [(String, Int)] = [
    ("GA", 93), ("FL", 76), ("IL", 69), ("CA", 43), ("TX", 36), ("MN", 23), ("WA", 20), ("MO", 17), ("AZ", 16),
    ("MI", 14), ("NV", 12), ("OK", 12), ("LA", 12), ("KS", 11), ("WI", 11), ("CO", 10), ("MD", 10), ("NJ", 10),
    ("SC", 10), ("NC", 8), ("PA", 8), ("TN", 8), ("AL", 7), ("UT", 7), ("NM", 6), ("OR", 6), ("VA", 6), ("AR", 5),
    ("MA", 5), ("NY", 5), ("OH", 5), ("NE", 4), ("CT", 3), ("IA", 3), ("ID", 3), ("IN", 3), ("KY", 3), ("MS", 3),
    ("NH", 2), ("SD", 2), ("WV", 2), ("WY", 2), ("HI", 1), ("ME", 1), ("MT", 1),
  ]
}

extension BankClosing {
  static func randomDate(_ generator: inout DemoGenerator) -> String {
    let year = years[yearChoice.index(&generator)].0
    return Friday.date(year: year, number: generator.number(below: 52))
  }

  static func randomAcquirer(_ generator: inout DemoGenerator) -> String? {
    generator.chance(percent: 6) ? nil : generator.element(of: BankNames.acquirers)
  }

  /// Assets from 12 million to 32 billion dollars. The magnitude is drawn first, because most banks are small.
  fileprivate static func randomAssets(_ generator: inout DemoGenerator) -> Double {
    let magnitudes = [12...99, 80...400, 300...1_200, 1_000...9_000, 9_000...32_000]
    let tenths = magnitudes[magnitudeChoice.index(&generator)]
    return Double(generator.number(in: tenths.lowerBound * 10...tenths.upperBound * 10)) / 10
  }

  private static let magnitudeChoice = WeightedChoice([27, 45, 20, 7, 1])
  private static let yearChoice = WeightedChoice(years.map(\.1))

  /// Years with their weights: two waves, the savings banks' and that of 2009 to 2011.
  private static let years: [(Int, Int)] = [
    (1985, 8), (1986, 10), (1987, 12), (1988, 15), (1989, 17), (1990, 14), (1991, 11), (1992, 8), (2000, 2), (2001, 3),
    (2002, 4), (2004, 2), (2007, 3), (2008, 25), (2009, 140), (2010, 157), (2011, 92), (2012, 51), (2013, 24),
    (2014, 18), (2015, 8), (2016, 5), (2017, 8), (2019, 4), (2020, 4), (2023, 5), (2024, 2),
  ]
}

/// The Fridays of a year.
enum Friday {
  /// - Parameter number: from 0 to 51.
  static func date(year: Int, number: Int) -> String {
    var day = (5 - weekdayOfNewYear(year) + 7) % 7 + number * 7
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    var month = 1
    for length in [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
      if day < length { break }
      day -= length
      month += 1
    }
    return "\(year)-\(twoDigits(month))-\(twoDigits(day + 1))"
  }

  /// 0 is Sunday.
  private static func weekdayOfNewYear(_ year: Int) -> Int {
    let past = year - 1
    return (1 + past + past / 4 - past / 100 + past / 400) % 7
  }
}

func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
