import Foundation
import TestSupport

/// The FDIC's list of failed banks, which is not part of the project: a CSV file next to the repository.
package enum BankList {
  package static let file = Fixtures.repository.appending(path: "../shared/data/banklist.csv").standardizedFileURL.path
  package static let isThere = FileManager.default.fileExists(atPath: file)
}
