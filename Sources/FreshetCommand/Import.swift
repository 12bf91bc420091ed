import ArgumentParser
import FileMaking
import Foundation
import Import

struct Import: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Bring a CSV file into a table, or a table up to date with a CSV file.",
    discussion: """
      freshet import banks.sqlite bank banklist.csv && freshet serve banks.sqlite

      The whole file is imported, or nothing: a mistake is told with its line (banklist.csv:123: expected 7 fields, found 8). \
      A database that is not there is made, in WAL mode.

      With --replace and the next edition of the file, a table that is there is brought up to date in one transaction: rows \
      that are the same are not touched, so that whoever follows the table is told of what differs and nothing else. Rows \
      are matched by --key, else by the table's primary key; when the file does not have that (an id that was added), a row \
      that differs in any column is deleted and inserted.

      Types are those of all values of a column. INTEGER: digits without a leading zero or a plus sign, up to 64 bits. REAL: \
      a decimal point, or an exponent with a sign. Else TEXT: 01234 and 12E4 stay what they are. An empty field is NULL; in \
      a column of text that has no dates, "" in quotes is the empty text. A column in which all values are dates like \
      18-May-12, or like 5/18/2012 with some day above 12 to tell which comes first, is stored as text like 2012-05-18, which \
      sorts. Years of two digits are 1969 to 2068.

      A column id with another integer on every row is the primary key; else an INTEGER PRIMARY KEY called id is added (row_id \
      when there is a column id).

      The file is read as RFC 4180 has it, with lines that end in CR LF or LF; lines without a character are passed over. \
      Its names are trimmed; empty ones become column1 … by their place, repeated ones are numbered.
      """)

  @Argument(help: ArgumentHelp("The SQLite file; it is made if it is not there.", valueName: "db"))
  var database: String

  @Argument(help: "The table.")
  var table: String

  @Argument(
    help: ArgumentHelp("The CSV file; - is standard input, which is copied to a temporary file.", valueName: "file"))
  var file: String

  @Option(
    help: ArgumentHelp(
      "What stands between fields: one character, or tab. (default: of , ; and tab, what cuts the first line into most fields)",
      valueName: "character"),
    transform: { text in
      guard let delimiter = Delimiter.parse(text) else { throw ValidationError("\(text) is not one ASCII character.") }
      return delimiter
    })
  var delimiter: UInt8?

  @Option(help: "How characters are written: utf-8 or windows-1252.")
  var encoding = CSVEncoding.utf8

  @Flag(help: "The first line is a row: columns are called column1, column2 …")
  var noHeader = false

  @Option(
    help: ArgumentHelp("The column by which rows are told apart: the primary key of a new table.", valueName: "column"))
  var key: String?

  @Option(help: ArgumentHelp("Keep a column as text, as it is written; can be repeated.", valueName: "column"))
  var text: [String] = []

  @Flag(help: "Keep dates as they are written.")
  var keepDates = false

  @Flag(help: "Bring the table up to date if it is there.")
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
