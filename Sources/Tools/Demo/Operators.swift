/// Invented companies, the larger ones first. An id is the place in this list, from 1.
enum Operators {
  static let names = [
    "Bluestem Energy", "Tallgrass Ridge Oil", "Cottonwood Creek Resources", "Ironbark Petroleum",
    "Northfork Operating", "Halcyon Basin Partners", "Red Mesa Exploration", "Juniper Flats Energy",
    "Stonegate Oil & Gas", "Copper Canyon Oil", "Longspur Resources", "Sandhill Crane Energy",
    "Prairie Fire Operating", "Windlass Petroleum", "Kestrel Basin Oil", "Owl Creek Production",
    "Silver Lariat Energy", "Badlands Operating", "Rimrock Hydrocarbons", "Yellowgrass Oil", "Antelope Draw Energy",
    "Chokecherry Resources", "Dry Fork Petroleum", "Eagle Tail Operating", "Foxtail Exploration", "Greasewood Oil",
    "High Lonesome Energy", "Indigo Butte Resources", "Jackrabbit Operating", "Keystone Draw Oil",
    "Larkspur Production", "Meadowlark Petroleum", "Needle Rock Energy", "Outrider Oil & Gas", "Pinyon Jay Resources",
    "Quartz Valley Energy", "Rabbit Ears Operating", "Sagebrush Partners", "Thunderhead Oil", "Ute Trail Energy",
    "Verdigris Petroleum", "Wagon Wheel Operating", "Buckhorn & Daughters", "Arroyo Seco Oil",
    "Bitterroot Basin Energy", "Caprock Lantern Oil", "Devil's Claw Operating", "Empty Quarter Energy",
    "Four Winds Production", "Gannet Hill Oil", "Hobbs & Calloway", "Iron Skillet Energy", "Jubilee Ranch Minerals",
    "Kettle Hole Resources", "Lost Mule Oil Co.", "Marrow & Pike", "Nightjar Exploration", "Old Saddle Energy",
    "Paintbrush Oil", "Quillback Operating",
  ]

  /// The n-th largest runs about 1/n as many wells as the largest (Zipf).
  static let choice = WeightedChoice(names.indices.map { 10_000 / ($0 + 4) })
}
