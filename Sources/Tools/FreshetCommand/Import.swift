import ArgumentParser
import FileMaking
import Foundation
import Import

struct Import: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Bring a CSV file into a table, or a table up to date with a CSV file.",
    discussion: """
      freshet import banks.sqlite bank banklist.csv && freshet serve banks.sqlite

      Errors name the line (banklist.csv:123: expected 7 fields, found 8). An import succeeds completely or changes nothing. \
      A missing database is made, in WAL mode.

      With --replace, the next edition of the file brings an existing table up to date in one transaction. Rows that are the \
      same are not touched, so clients that follow the table get only what differs. Rows are matched by --key, else by the \
      table's primary key; when the file does not have that (an id that was added), a row that differs in any column is \
      deleted and inserted.

      A column's type fits all of its values. INTEGER: digits without a leading zero or a plus sign, up to 64 bits. REAL: \
      a decimal point, or an exponent with a sign. Else TEXT: 01234 and 12E4 stay what they are. An empty field is NULL; in \
      a column of text that has no dates, "" in quotes is the empty text. A column in which all values are dates like \
      18-May-12, or like 5/18/2012 with some day above 12 to show which number is the day, is stored as text like 2012-05-18, \
      which sorts. Years of two digits are 1969 to 2068.

      A column id with a different integer in every row becomes the primary key; else an INTEGER PRIMARY KEY called id is \
      added (row_id when there is a column id).

      The file is read as RFC 4180 describes, with lines that end in CR LF or LF; empty lines are skipped. Column names are \
      trimmed; empty ones become column1 … by their position, repeated ones are numbered.
      """)

  @Argument(help: ArgumentHelp("The SQLite file; it is made if it does not exist.", valueName: "db"))
  var database: String

  @Argument(help: "The table.")
  var table: String

  @Argument(
    help: ArgumentHelp("The CSV file; - is standard input, which is copied to a temporary file.", valueName: "file"))
  var file: String

  @Option(
    help: ArgumentHelp(
      "The character between fields, or tab. (default: of , ; and tab, the one that splits the first line into the most fields)",
      valueName: "character"),
    transform: { text in
      guard let delimiter = Delimiter.parse(text) else { throw ValidationError("\(text) is not one ASCII character.") }
      return delimiter
    })
  var delimiter: UInt8?

  @Option(help: "The file's encoding: utf-8 or windows-1252.")
  var encoding = CSVEncoding.utf8

  @Flag(help: "The first line is a row, not a header: columns are called column1, column2 …")
  var noHeader = false

  @Option(
    help: ArgumentHelp("The column that identifies a row; the primary key of a new table.", valueName: "column"))
  var key: String?

  @Option(help: ArgumentHelp("Keep a column as text, unchanged; can be repeated.", valueName: "column"))
  var text: [String] = []

  @Flag(help: "Keep dates as they are written.")
  var keepDates = false

  @Flag(help: "Bring the table up to date if it exists.")
  var replace = false

  func run() throws {
    let path = try DatabaseFile.expected(database)
    do throws(ImportError) {
      // Standard input is waited for here, and Ctrl-C still ends the process: nothing has been made yet.
      let csv = try CSVFile(file)
      // From here on it is looked for, so that nothing unfinished stays.
      let signals = TerminationSignals()
      var bar = isatty(STDERR_FILENO) == 1 ? ProgressBar("Importing", total: 2 * csv.size) : nil
      defer { bar?.interrupt() }
      let task = CSVImport(
        csv, table: table, options: options, progress: { bar?.update($0) }, isCancelled: { signals.isPending })
      print(try task.run(into: path))
    } catch {
      throw CommandFailure(error.message)
    }
  }

  private var options: CSVImport.Options {
    var options = CSVImport.Options()
    options.delimiter = delimiter
    options.encoding = encoding
    options.hasHeader = !noHeader
    options.key = key
    options.textColumns = text
    options.keepsDates = keepDates
    options.replaces = replace
    return options
  }
}

extension CSVEncoding: ExpressibleByArgument {}
