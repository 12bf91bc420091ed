import GRDB
import Store

/// Whether a column of a file suits the column of a table that is there, and how its values get there.
struct ColumnCheck {
  let table: String
  let csv: CSVTable
  let options: CSVImport.Options

  /// - Throws: `badLine`, `mismatch`.
  func column(
    _ name: String, type: String, _ survey: ColumnSurvey, _ db: Database
  ) throws -> TableMerge.Column {
    let affinity = Affinity(declaredType: type)
    let kind: ColumnKind
    switch affinity {
    case .integer:
      try refuse(survey.notInteger, name, "INTEGER")
      kind = .integer
    case .real:
      try refuse(survey.notReal, name, "REAL")
      kind = .real
    case .text:
      kind = if case .date = survey.kind { survey.kind } else { .text }
      if kind == .text, try db.isColumnOfDates(table, name) { try refuseOtherDates(survey, name) }
    case .numeric, .blob, nil: kind = survey.kind
    }
    let isExact = affinity != .blob && affinity != nil
    return TableMerge.Column(
      name: name, kind: kind, stagedType: isExact ? affinity!.rawValue : kind.type, isExact: isExact)
  }

  private func refuse(_ exception: ColumnSurvey.Exception?, _ name: String, _ type: String) throws(ImportError) {
    guard let exception else { return }
    throw csv.file.failure(
      exception.line, "\"\(exception.text)\" in the column \(identifierForPeople(name)), which is \(type) in \(table)")
  }

  /// A column whose dates an earlier import has stored as 2012-05-18 would get dates of another form as well.
  private func refuseOtherDates(_ survey: ColumnSurvey, _ name: String) throws(ImportError) {
    let column = "the column \(identifierForPeople(name)), whose dates are stored as 2012-05-18 in \(table)"
    if let exception = survey.notDate {
      throw csv.file.failure(exception.line, "\"\(exception.text)\" in \(column)")
    }
    if survey.isAmbiguousDate {
      throw ImportError(
        .mismatch, "\(csv.file.name) does not tell whether month or day comes first in \(column): no day is above 12")
    }
  }
}

extension Database {
  /// Whether there are values in a column, and all of them are days such as 2012-05-18.
  fileprivate func isColumnOfDates(_ table: String, _ column: String) throws -> Bool {
    let from = "FROM main.\(quotedIdentifier(table))"
    let name = quotedIdentifier(column)
    let digit = "[0-9]"
    let day = [4, 2, 2].map { String(repeating: digit, count: $0) }.joined(separator: "-")
    let sql = """
      SELECT EXISTS (SELECT 1 \(from) WHERE \(name) IS NOT NULL)
        AND NOT EXISTS (SELECT 1 \(from) WHERE \(name) NOT GLOB '\(day)')
      """
    return try Bool.fetchOne(self, sql: sql) ?? false
  }
}
