import Foundation

/// Draws what grows with the size of a list, as SVG that is readable on light and dark pages alike.
enum Charts {
  static func draw(_ findings: [Finding], in folder: String) throws {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let change = findings.filter { $0.benchmark == "change" && $0.unit == "µs" }
    let kinds = ["content", "sort", "section", "insert", "delete"].map { ($0, curve(change, "\($0), p50")) }
    try write(
      Chart(
        title: "A one-row change: from commit to patch", unit: "µs",
        curves: kinds + [("GRDB, fetched again", curve(change, "fetching again and differing, p50"))]),
      "\(folder)/change.svg")
    let open = findings.filter { $0.benchmark == "open" }
    try write(
      Chart(
        title: "Opening a list", unit: "ms",
        curves: [
          ("first time", sides(open, "cold").subject), ("raw SQLite, stepped", sides(open, "cold").baseline),
          ("window of 50, list is open", sides(open, "window of 50 of an open list").subject),
          ("raw SQLite, LIMIT 50", sides(open, "window of 50 of an open list").baseline),
        ]), "\(folder)/open.svg")
  }

  private static func curve(_ findings: [Finding], _ name: String) -> [(Double, Double)] {
    findings.filter { $0.name == name }.map { (Double($0.rows ?? 0), $0.median) }
  }

  private static func sides(
    _ findings: [Finding], _ name: String
  ) -> (subject: [(Double, Double)], baseline: [(Double, Double)]) {
    let found = findings.filter { $0.name == name }
    return (
      found.map { (Double($0.rows ?? 0), $0.subject ?? .nan) },
      found.map { (Double($0.rows ?? 0), $0.baseline ?? .nan) }
    )
  }

  private static func write(_ chart: Chart, _ path: String) throws {
    if chart.curves.contains(where: { !$0.points.isEmpty }) {
      try chart.svg.write(toFile: path, atomically: true, encoding: .utf8)
    }
  }
}

/// Curves over rows; both axes are logarithmic.
struct Chart {
  var title: String
  var unit: String
  var curves: [(name: String, points: [(x: Double, y: Double)])]

  private static let colors = ["#3b82f6", "#10b981", "#f59e0b", "#a855f7", "#ef4444", "#8b8b8b"]
  private let left = 64.0, right = 560.0, top = 40.0, bottom = 300.0

  var svg: String {
    let points = curves.flatMap(\.points)
    let columns = (log10(points.map(\.x).min() ?? 1), log10(points.map(\.x).max() ?? 10))
    let values = (
      floor(log10(points.map(\.y).min() ?? 1)), ceil(log10(points.map(\.y).max() ?? 10))
    )
    let across = { (x: Double) in
      left + (right - left) * (log10(x) - columns.0) / max(0.01, columns.1 - columns.0)
    }
    let up = { (y: Double) in bottom - (bottom - top) * (log10(y) - values.0) / max(1, values.1 - values.0) }
    var body = ""
    for power in Int(values.0)...Int(values.1) {
      let y = up(pow(10, Double(power)))
      body += "<path class=\"grid\" d=\"M\(left) \(y.pixel)H\(right)\"/>"
      body += "<text x=\"\(left - 8)\" y=\"\((y + 4).pixel)\" text-anchor=\"end\">\(label(power))</text>\n"
    }
    for x in Set(points.map(\.x)).sorted() {
      body += "<text x=\"\(across(x).pixel)\" y=\"\(bottom + 20)\" text-anchor=\"middle\">\(Int(x).grouped)</text>\n"
    }
    for (index, curve) in curves.enumerated() where !curve.points.isEmpty {
      body += line(curve, Self.colors[index % Self.colors.count], top + Double(index) * 18, across, up)
    }
    return frame(body)
  }

  private func line(
    _ curve: (name: String, points: [(x: Double, y: Double)]), _ color: String, _ legend: Double,
    _ across: (Double) -> Double, _ up: (Double) -> Double
  ) -> String {
    let points = curve.points.map { "\(across($0.x).pixel),\(up($0.y).pixel)" }.joined(separator: " ")
    return """
      <polyline points="\(points)" fill="none" stroke="\(color)" stroke-width="2"/>
      <path d="M\(right + 16) \(legend)h18" stroke="\(color)" stroke-width="2"/>\
      <text x="\(right + 40)" y="\(legend + 4)">\(curve.name)</text>

      """
  }

  private func label(_ power: Int) -> String {
    power < 0 ? String(format: "%.\(-power)f", pow(10, Double(power))) : Int(pow(10, Double(power))).grouped
  }

  private func frame(_ body: String) -> String {
    """
    <svg xmlns="http://www.w3.org/2000/svg" viewBox="-24 0 824 340" role="img" aria-label="\(title)">
    <style>
    text { font: 13px system-ui, sans-serif; fill: #444 } .grid { stroke: #8884; fill: none }
    @media (prefers-color-scheme: dark) { text { fill: #ccc } }
    </style>
    <text x="\(left)" y="20">\(title) (\(unit), by rows in the list)</text>
    \(body)</svg>

    """
  }
}

extension Double {
  fileprivate var pixel: String { String(format: "%.1f", self) }
}
