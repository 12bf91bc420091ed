/// Names of banks, made of words that many banks' names have, in invented towns.
enum BankNames {
  /// Such as "Farmers Savings Bank of Larkhaven, FSB".
  static func name(_ generator: inout DemoGenerator, city: String) -> String {
    let place = generator.chance(percent: 55) ? city : generator.element(of: regions)
    switch generator.number(below: 6) {
    case 0: return "\(generator.element(of: founders)) Bank of \(place)"
    case 1: return "\(place) \(generator.element(of: kinds))"
    case 2: return "\(generator.element(of: founders)) \(generator.element(of: kinds)) of \(place)"
    case 3: return "Bank of \(place)"
    case 4: return "\(place) \(generator.element(of: founders)) Bank"
    default: return "\(generator.element(of: founders)) \(place) Bank, \(generator.element(of: charters))"
    }
  }

  static func city(_ generator: inout DemoGenerator) -> String {
    generator.element(of: beginnings) + generator.element(of: endings)
  }

  /// Banks that acquire others.
  static let acquirers = [
    "Bluestem National Bank", "Great Plover Bank", "Harrow & Stone Trust", "Larkspur Federal Bank", "Meridian Oak Bank",
    "Northlight Bancorp", "Old Ferry Savings Bank", "Pinyon Valley Bank", "Quillback Trust Company",
    "Redwing State Bank",
    "Saltmarsh Community Bank", "Tallgrass Bank & Trust", "Umber Hills Bank", "Verdant Coast Bank",
    "Westering Bank, N.A.",
    "Copper Lantern Bank", "Twelve Rivers Bank", "Stonefly Savings Bank", "Marlinspike Bank", "Grey Heron Bank",
  ]

  private static let founders = [
    "First", "First", "Farmers", "Merchants", "Citizens", "Peoples", "Security", "Community", "Pioneer", "Heritage",
    "Guaranty", "Home", "Union", "Frontier", "Mechanics", "Planters", "Independent", "Liberty",
  ]

  private static let kinds = [
    "State Bank", "Savings Bank", "National Bank", "Community Bank", "Bank & Trust", "Federal Savings Bank",
    "Commerce Bank", "Thrift & Loan",
  ]

  private static let charters = ["FSB", "N.A.", "National Association", "SSB"]

  private static let regions = [
    "Blue Mesa", "Cane River", "Cedar Valley", "Cold Spring", "Cypress Coast", "Eagle Bluff", "Golden Prairie",
    "Granite Lake", "Gulf Pines", "High Desert", "Iron Range", "Long Prairie", "Lost Lake", "Magnolia County",
    "Midland Plains", "Mossy Creek", "Northern Bay", "Palmetto Shore", "Peach County", "Red Bluff", "Silver Lake",
    "Southern Pines", "Sugar Creek", "Three Forks", "Timber County", "Two Rivers", "West Fork", "White Oak",
  ]

  private static let beginnings = [
    "Alder", "Ash", "Beaver", "Birch", "Brook", "Clear", "Cotton", "Deer", "Elk", "Fair", "Fern", "Fox", "Glen",
    "Hazel", "Holly", "Juniper", "Lark", "Linden", "Maple", "Mill", "Otter", "Pecan", "Quail", "Raven", "Rose",
    "Sand", "Stone", "Thorn", "Walnut", "Willow",
  ]

  private static let endings = [
    "bridge", "bury", "dale", "field", "ford", "gate", "haven", "mont", "port", "ville", "wick",
  ]
}
