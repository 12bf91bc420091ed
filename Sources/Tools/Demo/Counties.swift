/// A county with its share of the wells.
struct County: Sendable {
  var name: String
  var state: String
  /// Relative: the wells are spread as unevenly as in the real fields.
  var weight: Int
}

extension County {
  /// Counties of five states. No name comes twice, because it names a section. An id is the place in this list, from 1.
  static let all: [County] = states.flatMap { state, counties in
    counties.map { County(name: $0.0, state: state, weight: $0.1) }
  }

  private static let states: [(String, [(String, Int)])] = [
    (
      "Colorado",
      [
        ("Weld", 380), ("Garfield", 110), ("Las Animas", 60), ("Yuma", 52), ("La Plata", 50), ("Rio Blanco", 48),
        ("Adams", 38), ("Washington", 30), ("Moffat", 22), ("Logan", 20), ("Larimer", 15), ("Morgan", 15),
        ("Mesa", 14), ("Cheyenne", 12), ("Arapahoe", 8), ("Baca", 8), ("Kiowa", 6), ("Montezuma", 5),
        ("Archuleta", 4), ("Broomfield", 4), ("Boulder", 3), ("Jackson", 3), ("Elbert", 2), ("Gunnison", 2),
        ("Routt", 1),
      ]
    ),
    (
      "Texas",
      [
        ("Midland", 120), ("Andrews", 92), ("Ector", 90), ("Martin", 88), ("Howard", 80), ("Reeves", 78),
        ("Crockett", 72), ("Pecos", 70), ("Upton", 70), ("Webb", 62), ("Gaines", 60), ("Wise", 58), ("Karnes", 52),
        ("Crane", 50), ("Reagan", 50), ("Tarrant", 48), ("Ward", 48), ("Glasscock", 42), ("Denton", 40),
        ("Dimmit", 40), ("La Salle", 40), ("Loving", 38), ("Panola", 36), ("DeWitt", 30), ("McMullen", 30),
        ("Gonzales", 20), ("Zavala", 6),
      ]
    ),
    (
      "North Dakota",
      [
        ("McKenzie", 82), ("Dunn", 60), ("Mountrail", 60), ("Williams", 58), ("Bottineau", 18), ("Divide", 18),
        ("Billings", 15), ("Bowman", 10), ("Burke", 10), ("Stark", 9), ("Renville", 4), ("Slope", 1),
      ]
    ),
    (
      "Wyoming",
      [
        ("Campbell", 140), ("Sublette", 70), ("Sweetwater", 62), ("Converse", 50), ("Natrona", 50), ("Johnson", 42),
        ("Fremont", 30), ("Park", 30), ("Carbon", 24), ("Laramie", 20), ("Crook", 10), ("Uinta", 10),
        ("Big Horn", 9), ("Hot Springs", 9), ("Niobrara", 5), ("Weston", 5),
      ]
    ),
    (
      "New Mexico",
      [
        ("Lea", 142), ("San Juan", 138), ("Eddy", 120), ("Rio Arriba", 80), ("Chaves", 30), ("Roosevelt", 6),
        ("Sandoval", 5), ("Harding", 4), ("Quay", 1),
      ]
    ),
  ]
}
