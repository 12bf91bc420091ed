/// Names as they stand on leases: the owner of the land, the kind of land, the number of the well.
enum WellNames {
  /// Such as "Aardvark Federal 12-3H".
  static func name(_ generator: inout DemoGenerator) -> String {
    var name = generator.element(of: words)
    if generator.chance(percent: 14) { name += " " + generator.element(of: features) }
    if generator.chance(percent: 62) { name += " " + generator.element(of: kinds) }
    return name + " " + number(&generator)
  }

  private static func number(_ generator: inout DemoGenerator) -> String {
    // A township has 36 sections, which is what the first number often means.
    let section = generator.number(in: 1...36)
    let well = generator.number(in: 1...24)
    switch generator.number(below: 6) {
    case 0: return "\(section)-\(well)"
    case 1, 2: return "\(section)-\(well)H"
    case 3: return "\(well)H"
    case 4: return "\(generator.element(of: quarters))\(section)-\(generator.number(in: 60...79))HN"
    default: return "\(section)X-\(well)\(generator.element(of: quarters))"
    }
  }

  private static let quarters = ["A", "B", "C", "D"]

  private static let kinds = [
    "Federal", "Federal", "Federal", "State", "State", "Unit", "Unit", "Ranch", "Fee", "Trust", "Estate", "Lease",
    "USA", "School Section", "Brothers", "Heirs",
  ]

  private static let features = [
    "Creek", "Draw", "Ridge", "Flats", "Canyon", "Butte", "Springs", "Hollow", "Mesa", "Gulch", "Valley", "Bench",
  ]

  private static let words = [
    "Aardvark", "Abbott", "Acorn", "Adobe", "Agate", "Alder", "Amos", "Anderson", "Antelope", "Apache", "Arrowhead",
    "Aspen", "Avocet", "Badger", "Bailey", "Baldwin", "Barlow", "Basalt", "Bear Paw", "Beckett", "Bighorn", "Birch",
    "Bison", "Blackfoot", "Bobcat", "Boone", "Bradley", "Briar", "Brooks", "Buckskin", "Buffalo", "Bunting", "Cactus",
    "Caldwell", "Camas", "Carver", "Cedar", "Chalk", "Chisholm", "Cinder", "Clayton", "Cobalt", "Colter", "Condor",
    "Cooper", "Coyote", "Crane", "Crawford", "Crow", "Curlew", "Dakota", "Dalton", "Dawson", "Deadwood", "Delgado",
    "Diamond", "Dixon", "Dogwood", "Dove", "Drummond", "Durango", "Dusty", "Eagle", "Eastman", "Elk", "Ellison",
    "Elm", "Ermine", "Escalante", "Evans", "Falcon", "Farley", "Feldspar", "Ferguson", "Finch", "Flint", "Flores",
    "Foster", "Fox", "Frontier", "Fulton", "Gable", "Gallagher", "Garnet", "Garrison", "Gibbs", "Gopher", "Granite",
    "Grayling", "Greer", "Grizzly", "Grouse", "Gustafson", "Hagen", "Hancock", "Harlan", "Hawk", "Hayes", "Hazel",
    "Henderson", "Heron", "Hickory", "Hoffman", "Holloway", "Horseshoe", "Hudson", "Ibex", "Ibis", "Inman", "Iris",
    "Ironwood", "Irving", "Jackal", "Jacobs", "Jasper", "Javelina", "Jensen", "Jericho", "Judd", "Juniper", "Kane",
    "Keller", "Kendall", "Kestrel", "Kingfisher", "Kirby", "Kodiak", "Kramer", "Lambert", "Lark", "Larson", "Laurel",
    "Lawson", "Lindgren", "Linnet", "Lobo", "Lockhart", "Lonetree", "Loon", "Lucero", "Lupine", "Lynx", "Maddox",
    "Magpie", "Mallard", "Maple", "Marlow", "Marmot", "Marten", "Maverick", "Mercer", "Mesquite", "Mica", "Moose",
    "Morales", "Mustang", "Nash", "Navarro", "Nelson", "Newell", "Nickel", "Nighthawk", "Nokota", "Norris", "Nuthatch",
    "Oakley", "Obsidian", "Ocelot", "Olsen", "Onyx", "Orchard", "Oriole", "Ortega", "Osprey", "Otter", "Overland",
    "Owens", "Palomino", "Parker", "Partridge", "Pearson", "Pelican", "Peregrine", "Petersen", "Pheasant", "Pierce",
    "Pine", "Pinto", "Plover", "Ponderosa", "Porter", "Prairie Dog", "Pronghorn", "Puma", "Quail", "Quartz", "Quigley",
    "Quinn", "Quintana", "Raccoon", "Ramsey", "Rattlesnake", "Raven", "Redtail", "Reyes", "Rhyolite", "Riley",
    "Roadrunner", "Rodeo", "Romero", "Rooster", "Rosewood", "Rowan", "Ruby", "Sable", "Sage", "Salazar", "Sandstone",
    "Sawyer", "Schmidt", "Shale", "Shepherd", "Shrike", "Sidewinder", "Sorrel", "Sparrow", "Spruce", "Stallion",
    "Sterling", "Stetson", "Sundance", "Swift", "Tanager", "Teal", "Thatcher", "Thistle", "Thompson", "Tomahawk",
    "Topaz", "Torres", "Trapper", "Turner", "Turquoise", "Twin Buttes", "Upland", "Upshaw", "Urban", "Utley", "Valdez",
    "Vance", "Vaquero", "Vaughn", "Vega", "Verbena", "Viper", "Vireo", "Wallace", "Walnut", "Warbler", "Wapiti",
    "Weasel", "Webster", "Whitaker", "Wildcat", "Willow", "Wolverine", "Woodpecker", "Wren", "Xavier", "Yancey",
    "Yarrow", "Yates", "Yellowstone", "Yucca", "Zane", "Zapata", "Ziegler", "Zimmerman", "Zinnia", "Zuni",
  ]
}
