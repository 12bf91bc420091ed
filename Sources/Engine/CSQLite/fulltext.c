/* FTS5's snippet and highlight, registered in the place of its own: the same results, with the work bounded.
 *
 * FTS5's snippet compares all places of the words in a row with one another: 35 s for a row with 40,000 of them. Its
 * highlight copies its whole output for every word. Neither checks the budget. Here a window over the sorted places is
 * scored, and the memory of the output is doubled when it is full. The results are those of SQLite 3.40; FullTextTests
 * compare them.
 */
#include "calls.h"
#include "fulltext.h"

#include <stddef.h>
#include <string.h>

/* Limits of the text of all columns of a row, in bytes and in words. Splitting a text takes 50 ns a word. */
static const int64_t longest_text = 4 << 20;
static const int64_t most_words = 1 << 20;

/* A place of a phrase: the number of its first word, counted from 0, and of its last. */
typedef struct {
  int phrase, first, last;
} place;

/* The state of a call. `text` and `places` belong to the column that was read last. */
typedef struct {
  const Fts5ExtensionApi *api;
  Fts5Context *context;
  int64_t steps;
  const char *text;
  int length, words;
  place *places;
  int count;
  /* The numbers of words that begin a sentence, in order. */
  int *sentences;
  int sentence_count, sentence_room;
  /* The number of the next word, while the text is split. */
  int word;
} call;

/* The output, and its source. Overlapping places are combined into one. */
typedef struct {
  call *call;
  const char *open, *close;
  sqlite3_str *out;
  int next;
  place current;
  /* The numbers of the first and last word to write; `end` is -1 to write all. */
  int start, end;
  /* The number of bytes of the text that are written already. */
  int done;
} writing;

static void write_bytes(sqlite3_str *out, const char *bytes, int length) {
  if (bytes == NULL || length <= 0) return;
  /* Ends at a NUL, as %.*s does. */
  const char *end = memchr(bytes, 0, (size_t)length);
  sqlite3_str_append(out, bytes, end ? (int)(end - bytes) : length);
}

static void write_text(sqlite3_str *out, const char *text) {
  if (text) sqlite3_str_appendall(out, text);
}

/* Advances to the next place, combined with the places that overlap it; `first` is -1 after the last one. */
static void advance(writing *writing) {
  const call *call = writing->call;
  writing->current.first = writing->current.last = -1;
  if (writing->next >= call->count) return;
  writing->current = call->places[writing->next++];
  for (; writing->next < call->count && call->places[writing->next].first <= writing->current.last; writing->next++) {
    int last = call->places[writing->next].last;
    if (last > writing->current.last) writing->current.last = last;
  }
}

static int write_word(void *context, int flags, const char *token, int length, int start, int end) {
  (void)token;
  (void)length;
  writing *writing = context;
  if (flags & FTS5_TOKEN_COLOCATED) return SQLITE_OK;
  if (sqlite_budget_work(0)) return SQLITE_INTERRUPT;
  int word = writing->call->word++;
  const char *text = writing->call->text;
  if (writing->end > 0) {
    if (word < writing->start || word > writing->end) return SQLITE_OK;
    if (writing->start && word == writing->start) writing->done = start;
  }
  if (word == writing->current.first) {
    write_bytes(writing->out, text + writing->done, start - writing->done);
    write_text(writing->out, writing->open);
    writing->done = start;
  }
  if (word == writing->current.last) {
    if (writing->end && writing->current.first < writing->start) write_text(writing->out, writing->open);
    write_bytes(writing->out, text + writing->done, end - writing->done);
    write_text(writing->out, writing->close);
    writing->done = end;
    advance(writing);
  }
  if (writing->end > 0 && word == writing->end) {
    write_bytes(writing->out, text + writing->done, end - writing->done);
    writing->done = end;
    if (word >= writing->current.first && word < writing->current.last) write_text(writing->out, writing->close);
  }
  return sqlite3_str_errcode(writing->out);
}

static int note_sentence(void *context, int flags, const char *token, int length, int start, int end) {
  (void)token;
  (void)length;
  (void)end;
  call *call = context;
  if (flags & FTS5_TOKEN_COLOCATED) return SQLITE_OK;
  if (sqlite_budget_work(0)) return SQLITE_INTERRUPT;
  int before = start - 1;
  while (before >= 0 && strchr(" \t\n\r", call->text[before]) && call->text[before]) before -= 1;
  int ends = before >= 0 && before < start - 1 && (call->text[before] == '.' || call->text[before] == ':');
  if (call->word == 0 || ends) {
    if (call->sentence_count == call->sentence_room) {
      int room = call->sentence_room ? call->sentence_room * 2 : 64;
      int *sentences = sqlite3_realloc64(call->sentences, (sqlite3_uint64)room * sizeof *sentences);
      if (sentences == NULL) return SQLITE_NOMEM;
      call->sentences = sentences;
      call->sentence_room = room;
    }
    call->sentences[call->sentence_count++] = call->word;
  }
  call->word += 1;
  return SQLITE_OK;
}

static int tokenize(call *call, void *context, int (*take)(void *, int, const char *, int, int, int)) {
  call->word = 0;
  return call->api->xTokenize(call->context, call->text, call->length, context, take);
}

/* Checks that the columns from `first` to before `end` are short enough. Reads them and their sizes. */
static int check(call *call, int first, int end) {
  int64_t bytes = 0, words = 0, phrases = call->api->xPhraseCount(call->context);
  for (int column = first; column < end; column++) {
    const char *text = NULL;
    int length = 0, size = 0;
    int code = call->api->xColumnText(call->context, column, &text, &length);
    if (code == SQLITE_OK) {
      bytes += length;
      /* The bytes are checked first, because FTS5 may have to split the text to count its words. */
      if (bytes > longest_text) return SQLITE_TOOBIG;
      code = call->api->xColumnSize(call->context, column, &size);
    }
    if (code != SQLITE_OK) return code;
    words += size;
  }
  /* FTS5 goes through all phrases for each place that it adds to the list of places. */
  return words > most_words || words * phrases > most_steps / (phrases ? phrases : 1) ? SQLITE_TOOBIG : SQLITE_OK;
}

static int read_column(call *call, int column) {
  int total = 0;
  int code = call->api->xColumnText(call->context, column, &call->text, &call->length);
  if (code == SQLITE_OK) code = call->api->xColumnSize(call->context, column, &call->words);
  if (code == SQLITE_OK) code = call->api->xInstCount(call->context, &total);
  if (code != SQLITE_OK) return code;
  if (call->places == NULL) call->places = sqlite3_malloc64(((sqlite3_uint64)total + 1) * sizeof *call->places);
  if (call->places == NULL) return SQLITE_NOMEM;
  call->count = 0;
  for (int index = 0; index < total; index++) {
    int phrase, of, first;
    code = call->api->xInst(call->context, index, &phrase, &of, &first);
    if (code != SQLITE_OK) return code;
    if (of != column) continue;
    call->places[call->count++] =
        (place){phrase, first, first - 1 + call->api->xPhraseSize(call->context, phrase)};
  }
  return SQLITE_OK;
}

static void end_call(call *call, sqlite3_context *context, int code) {
  sqlite3_free(call->places);
  sqlite3_free(call->sentences);
  if (code == SQLITE_TOOBIG || call->steps < 0) {
    call_refuse(context, "snippet or highlight has a row that is too long");
  } else if (code != SQLITE_OK) {
    sqlite3_result_error_code(context, code);
  }
}

static int write_result(writing *writing, sqlite3_context *context, int code) {
  if (code == SQLITE_OK) code = sqlite3_str_errcode(writing->out);
  int length = sqlite3_str_length(writing->out);
  char *text = sqlite3_str_finish(writing->out);
  if (code == SQLITE_OK && text == NULL) sqlite3_result_text(context, "", 0, SQLITE_STATIC);
  else if (code == SQLITE_OK) sqlite3_result_text(context, text, length, sqlite3_free);
  else sqlite3_free(text);
  return code;
}

static void highlight(const Fts5ExtensionApi *api, Fts5Context *fts, sqlite3_context *context, int count,
                      sqlite3_value **values) {
  if (count != 3) return sqlite3_result_error(context, "wrong number of arguments to function highlight()", -1);
  call call = {.api = api, .context = fts, .steps = most_steps};
  int column = sqlite3_value_int(values[0]);
  if (column < 0 || column >= api->xColumnCount(fts)) return;
  int code = check(&call, column, column + 1);
  if (code == SQLITE_OK) code = read_column(&call, column);
  if (code == SQLITE_OK && call.text) {
    writing writing = {.call = &call, .out = sqlite3_str_new(sqlite3_context_db_handle(context))};
    writing.open = (const char *)sqlite3_value_text(values[1]);
    writing.close = (const char *)sqlite3_value_text(values[2]);
    advance(&writing);
    code = tokenize(&call, &writing, write_word);
    if (code == SQLITE_OK) write_bytes(writing.out, call.text + writing.done, call.length - writing.done);
    code = write_result(&writing, context, code);
  }
  end_call(&call, context, code);
}

typedef struct {
  int score, column, start, words;
} best;

/* The score of the window of `words` words from `start` on, whose first place is `index`: 1,000 for each phrase in it,
 * and 1 for each further place of a phrase. Sets `last` to the end of the last place. */
static int score(call *call, unsigned char *seen, int index, int start, int words, int *last) {
  int result = 0, begin = index;
  int64_t end = (int64_t)start + words;
  for (; index < call->count && call->places[index].first < end && (call->steps -= 1) >= 0; index++) {
    const place *place = &call->places[index];
    result += seen[place->phrase] ? 1 : 1000;
    seen[place->phrase] = 1;
    *last = place->last + 1;
  }
  while (index-- > begin) seen[call->places[index].phrase] = 0;
  return result;
}

static void improve(best *best, int score, int column, int start, int words) {
  if (score <= best->score) return;
  best->score = score;
  best->column = column;
  best->start = start;
  best->words = words;
}

/* Scores the windows that begin near the places of a column, or at the beginning of the sentences with these places. */
static void find_best(call *call, best *best, unsigned char *seen, int column, int words) {
  int sentence = 0, from = 0;
  for (int index = 0; index < call->count && call->steps >= 0; index++) {
    int first = call->places[index].first, last = 0;
    /* Places of several phrases may begin with the same word. */
    int same = index;
    while (same > 0 && call->places[same - 1].first == first) same -= 1;
    int value = score(call, seen, same, first, words, &last);
    int64_t start = first - (int64_t)(words - (last - first)) / 2;
    if (start + words > call->words) start = call->words - words;
    improve(best, value, column, start < 0 ? 0 : (int)start, call->words);
    if (call->sentence_count == 0 || call->words <= words) continue;
    while (sentence + 1 < call->sentence_count && call->sentences[sentence + 1] <= first) sentence += 1;
    int begin = call->sentences[sentence];
    if (begin >= first) continue;
    while (from < call->count && call->places[from].first < begin) from += 1;
    value = score(call, seen, from, begin, words, &last) + (begin == 0 ? 120 : 100);
    improve(best, value, column, begin, call->words);
  }
}

static void snippet(const Fts5ExtensionApi *api, Fts5Context *fts, sqlite3_context *context, int count,
                    sqlite3_value **values) {
  if (count != 5) return sqlite3_result_error(context, "wrong number of arguments to function snippet()", -1);
  call call = {.api = api, .context = fts, .steps = most_steps};
  int column = sqlite3_value_int(values[0]), words = sqlite3_value_int(values[4]), columns = api->xColumnCount(fts);
  int first = column < 0 ? 0 : column, end = column < 0 ? columns : column + 1;
  best best = {.column = first};
  const char *ellipsis = (const char *)sqlite3_value_text(values[3]);
  unsigned char *seen = sqlite3_malloc(api->xPhraseCount(fts) + 1);
  if (seen == NULL) return sqlite3_result_error_nomem(context);
  memset(seen, 0, (size_t)api->xPhraseCount(fts) + 1);
  int code = column < columns ? check(&call, first, end) : SQLITE_RANGE;
  for (int each = first; each < end && code == SQLITE_OK; each++) {
    code = read_column(&call, each);
    call.sentence_count = 0;
    if (code == SQLITE_OK) code = tokenize(&call, &call, note_sentence);
    if (code == SQLITE_OK) find_best(&call, &best, seen, each, words);
    if (call.steps < 0) code = SQLITE_TOOBIG;
  }
  sqlite3_free(seen);
  if (code == SQLITE_OK) code = read_column(&call, best.column);
  if (code == SQLITE_OK && call.text) {
    writing writing = {.call = &call, .start = best.start, .end = best.start + words - 1};
    writing.out = sqlite3_str_new(sqlite3_context_db_handle(context));
    writing.open = (const char *)sqlite3_value_text(values[1]);
    writing.close = (const char *)sqlite3_value_text(values[2]);
    if (best.start > 0) write_text(writing.out, ellipsis);
    do advance(&writing); while (writing.current.first >= 0 && writing.current.first < best.start);
    code = tokenize(&call, &writing, write_word);
    if (code != SQLITE_OK) {
    } else if (writing.end >= call.words - 1) {
      write_bytes(writing.out, call.text + writing.done, call.length - writing.done);
    } else {
      write_text(writing.out, ellipsis);
    }
    code = write_result(&writing, context, code);
  }
  end_call(&call, context, code);
}

int fulltext_install(sqlite3 *connection) {
  fts5_api *api = NULL;
  sqlite3_stmt *statement = NULL;
  /* If SQLite was built without FTS5, nothing is replaced. */
  if (sqlite3_prepare_v2(connection, "SELECT fts5(?1)", -1, &statement, NULL) != SQLITE_OK) return SQLITE_OK;
  sqlite3_bind_pointer(statement, 1, &api, "fts5_api_ptr", NULL);
  sqlite3_step(statement);
  int code = sqlite3_finalize(statement);
  if (code != SQLITE_OK || api == NULL) return code;
  code = api->xCreateFunction(api, "snippet", NULL, snippet, NULL);
  return code == SQLITE_OK ? api->xCreateFunction(api, "highlight", NULL, highlight, NULL) : code;
}
