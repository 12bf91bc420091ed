/// The keys of the rows that each unit gives, as encoded values, for queries whose key is not the unit.
struct UnitKeys {
  private var keysOfUnit: [[UInt8]: [[UInt8]]] = [:]
  private var unitOfKey: [[UInt8]: [UInt8]] = [:]

  mutating func remember(_ key: [UInt8], of unit: [UInt8]) {
    keysOfUnit[unit, default: []].append(key)
    unitOfKey[key] = unit
  }

  /// - Returns: the keys of the rows that the unit had.
  mutating func forget(_ unit: [UInt8]) -> [[UInt8]] {
    let keys = keysOfUnit.removeValue(forKey: unit) ?? []
    for key in keys where unitOfKey[key] == unit { unitOfKey[key] = nil }
    return keys
  }

  /// The average number of rows of a unit that has rows.
  var rowsOfUnit: Int { unitOfKey.count / max(1, keysOfUnit.count) }

  func hasRows(of unit: [UInt8]) -> Bool { keysOfUnit[unit] != nil }

  func unit(of key: [UInt8]) -> [UInt8]? { unitOfKey[key] }
}
