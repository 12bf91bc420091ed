/// The functions that a client's SQL may call: functions of SQLite that read nothing but their arguments.
///
/// `regexp` does what LIKE does, see `PatternRules`. Not allowed are functions that have effects or read files
/// (`load_extension`, `readfile`, `fts3_tokenizer`), that reveal the connection (`changes`, `last_insert_rowid`,
/// `sqlite_…`), or that make long values from short arguments (`zeroblob`, `randomblob`).
package enum AllowedFunctions {
  package static let names: Set<String> = Set(scalar + json + mathematical + temporal + aggregate + window + search)

  private static let scalar = [
    "abs", "char", "coalesce", "concat", "concat_ws", "format", "glob", "hex", "ifnull", "iif", "if", "instr",
    "length", "like", "likelihood", "likely", "lower", "ltrim", "max", "min", "nullif", "octet_length", "printf",
    "quote", "regexp", "replace", "round", "rtrim", "sign", "soundex", "substr", "substring", "trim", "typeof", "unhex",
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

  /// Functions with a format, which `StatementRules` checks.
  static let formatting = ["format", "printf"]

  /// Functions of time. Queries that call them with `now` are refused.
  package static let temporal = ["date", "time", "datetime", "julianday", "strftime", "timediff", "unixepoch"]

  private static let aggregate = [
    "avg", "count", "group_concat", "json_group_array", "json_group_object", "string_agg", "sum", "total",
  ]

  private static let window = [
    "cume_dist", "dense_rank", "first_value", "lag", "last_value", "lead", "nth_value", "ntile", "percent_rank", "rank",
    "row_number",
  ]

  /// Functions of full-text search.
  private static let search = ["bm25", "highlight", "match", "matchinfo", "offsets", "snippet"]

  /// Functions that return another result at every call. Only queries with `refreshEvery` may use them.
  package static let changing: Set<String> = ["current_date", "current_time", "current_timestamp", "random"]

  /// Table-valued functions; they read nothing but their arguments.
  package static let tables: Set<String> = ["json_each", "json_tree"]
}
