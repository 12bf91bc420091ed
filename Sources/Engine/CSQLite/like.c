/* LIKE as in SQLite's func.c, with its steps counted. */
#include "calls.h"

#include <stddef.h>
#include <string.h>

typedef struct {
  /* The wildcards and the escape character. A wildcard is 0 if it is the escape character. */
  unsigned all, one, escape;
  int64_t steps;
} like_rules;

enum { MATCH, NO_MATCH, NO_WILDCARD_MATCH };

/* Reads a character as SQLite does, even if the text is not valid UTF-8. */
static unsigned read_character(const unsigned char **text) {
  unsigned c = *(*text)++;
  if (c < 0xC0) return c;
  c &= c < 0xE0 ? 0x1F : c < 0xF0 ? 0x0F : c < 0xF8 ? 0x07 : c < 0xFC ? 0x03 : c < 0xFE ? 0x01 : 0;
  while (utf8_continues(**text)) c = (c << 6) + (0x3F & *(*text)++);
  if (c < 0x80 || (c & 0xFFFFF800) == 0xD800 || (c & 0xFFFFFFFE) == 0xFFFE) c = 0xFFFD;
  return c;
}

static unsigned lower(unsigned c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; }

static int like_from(const unsigned char *pattern, const unsigned char *text, like_rules *rules);

/* Matches the rest after `%`: `c` is the next character of the pattern, which the text must contain. */
static int like_rest(unsigned c, const unsigned char *pattern, const unsigned char *text, like_rules *rules) {
  char stops[3] = {(char)lower(c), c >= 'a' && c <= 'z' ? (char)(c - 32) : (char)c, 0};
  for (;;) {
    if (c < 0x80) {
      text += strcspn((const char *)text, stops);
      if (*text == 0) return NO_WILDCARD_MATCH;
      text += 1;
    } else {
      unsigned other;
      while ((other = read_character(&text)) != 0 && other != c) {}
      if (other == 0) return NO_WILDCARD_MATCH;
    }
    int result = like_from(pattern, text, rules);
    if (result != NO_MATCH) return result;
  }
}

/* Matches the rest after the first `%`: further wildcards, and the pattern after them. */
static int like_wildcards(const unsigned char *pattern, const unsigned char *text, like_rules *rules) {
  unsigned c;
  while ((c = read_character(&pattern)) == rules->all || (c == rules->one && rules->one != 0)) {
    if (c == rules->one && read_character(&text) == 0) return NO_WILDCARD_MATCH;
  }
  if (c == 0) return MATCH;
  if (c == rules->escape) c = read_character(&pattern);
  return c == 0 ? NO_WILDCARD_MATCH : like_rest(c, pattern, text, rules);
}

static int like_from(const unsigned char *pattern, const unsigned char *text, like_rules *rules) {
  const unsigned char *escaped = NULL;
  unsigned c;
  while ((c = read_character(&pattern)) != 0) {
    if ((rules->steps -= 1) < 0) return NO_WILDCARD_MATCH;
    if (c == rules->all) return like_wildcards(pattern, text, rules);
    if (c == rules->escape) {
      c = read_character(&pattern);
      if (c == 0) return NO_MATCH;
      escaped = pattern;
    }
    unsigned other = read_character(&text);
    if (c == other || (c < 0x80 && other < 0x80 && lower(c) == lower(other))) continue;
    if (c == rules->one && pattern != escaped && other != 0) continue;
    return NO_MATCH;
  }
  return *text == 0 ? MATCH : NO_MATCH;
}

/* Whether the text is exactly one character. */
static int is_single(const unsigned char *text) { return *text != 0 && text[utf8_skip(text)] == 0; }

void call_like(sqlite3_context *context, int count, sqlite3_value **values) {
  like_rules rules = {'%', '_', 0, most_steps};
  /* Debian's SQLite is compiled with this option. */
  if (sqlite3_compileoption_used("LIKE_DOESNT_MATCH_BLOBS") &&
      (sqlite3_value_type(values[0]) == SQLITE_BLOB || sqlite3_value_type(values[1]) == SQLITE_BLOB)) {
    return sqlite3_result_int(context, 0);
  }
  int longest = sqlite3_limit(sqlite3_context_db_handle(context), SQLITE_LIMIT_LIKE_PATTERN_LENGTH, -1);
  if (sqlite3_value_bytes(values[0]) > longest) {
    return sqlite3_result_error(context, "LIKE or GLOB pattern too complex", -1);
  }
  if (count == 3) {
    const unsigned char *escape = sqlite3_value_text(values[2]);
    if (escape == NULL) return;
    if (!is_single(escape)) return sqlite3_result_error(context, "ESCAPE expression must be a single character", -1);
    rules.escape = read_character(&escape);
    if (rules.escape == rules.all) rules.all = 0;
    if (rules.escape == rules.one) rules.one = 0;
  }
  const unsigned char *pattern = sqlite3_value_text(values[0]), *text = sqlite3_value_text(values[1]);
  if (pattern == NULL || text == NULL || call_is_over(context, sqlite3_value_bytes(values[1]))) return;
  int result = like_from(pattern, text, &rules);
  if (rules.steps < 0) return call_refuse(context, "LIKE would take too long: the text is too long for such a pattern");
  sqlite3_result_int(context, result == MATCH);
}
