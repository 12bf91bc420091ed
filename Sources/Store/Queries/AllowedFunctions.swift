/// The functions that a client's SQL may call: SQLite's own that read nothing but their arguments.
///
/// Not in it: what has effects or reads files (`load_extension`, `readfile`, `fts3_tokenizer`), what tells of the
/// connection (`changes`, `last_insert_rowid`, `sqlite_…`), what makes long values out of nothing (`zeroblob`), and what gives another result every time (`random`,
/// `current_timestamp`), by which no list can be kept up to date.
enum AllowedFunctions {
  static let names: Set<String> = Set(scalar + json + mathematical + temporal + aggregate)

  private static let scalar = [
    "abs", "char", "coalesce", "concat", "concat_ws", "format", "glob", "hex", "ifnull", "iif", "if", "instr",
    "length", "like", "likelihood", "likely", "lower", "ltrim", "max", "min", "nullif", "octet_length", "printf",
    "quote", "replace", "round", "rtrim", "sign", "soundex", "substr", "substring", "trim", "typeof", "unhex",
    "unicode", "unlikely", "upper",
  ]

  private static let json = [
    "->", "->>", "json", "json_array", "json_array_length", "json_error_position", "json_extract", "json_insert",
    "json_object", "json_patch", "json_quote", "json_remove", "json_replace", "json_set", "json_type", "json_valid",
  ]

  private static let mathematical = [
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "ceil", "ceiling", "cos", "cosh", "degrees", "exp",
    "floor", "ln", "log", "log10", "log2", "mod", "pi", "pow", "power", "radians", "sin", "sinh", "sqrt", "tan",
    "tanh", "trunc",
  ]

  /// Their formats are checked, see `QueryCompiler`.
  static let formatting = ["format", "printf"]

  /// Of `now` they are refused, see `QueryCompiler`.
  static let temporal = ["date", "time", "datetime", "julianday", "strftime", "timediff", "unixepoch"]

  private static let aggregate = ["avg", "count", "group_concat", "string_agg", "sum", "total"]
}
