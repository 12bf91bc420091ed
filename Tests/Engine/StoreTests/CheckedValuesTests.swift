import Testing

@testable import Store

/// The values that a CHECK lists.
@Suite struct CheckedValuesTests {
  @Test(arguments: [
    ("status TEXT CHECK (status IN ('open', 'it''s'))", ["status": ["open", "it's"]]),
    ("a, b TEXT, CHECK(\"B\" in ('x'))", ["b": ["x"]]),
    ("a CHECK (a IN ('x', 'y') OR a IS NULL)", ["a": ["x", "y"]]),
    ("a CHECK (a IS NULL OR [A] IN ('x'))", ["a": ["x"]]),
    ("a TEXT CHECK (a /* one of */ IN ('x', -- first\n 'y'))", ["a": ["x", "y"]]),
    ("a CHECK (a IN (1, 2))", [:]), ("a CHECK (a NOT IN ('x'))", [:]), ("a CHECK (lower(a) IN ('x'))", [:]),
    ("a CHECK (a IN ('x') AND b)", [:]), ("a, b, CHECK (a IN ('x') OR b IS NULL)", [:]), ("a CHECK (a IN ())", [:]),
    ("a CHECK (a IN (SELECT 'x'))", [:]), ("a DEFAULT 'CHECK (a IN (''x''))'", [:]), ("a CHECK (a IN ('x'", [:]),
  ]) func `A list of texts, and nothing else, says what a column may have`(columns: String, values: [String: [String]])
  {
    #expect(CheckedValues("CREATE TABLE t(\(columns))").values == values)
  }
}
