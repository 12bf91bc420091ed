/* Limits of SQLite on a thread: see "budgets" in CSQLite.h.
 *
 * SQLite looks at neither interrupts nor the clock while it compiles a statement (3.41 is the first that does), nor
 * inside one function or operator, nor while it sorts. But all of them allocate memory, and SQLite is tested for every
 * allocation that fails. So the allocator stops SQLite when the budget is spent. Functions that work long without
 * allocating are replaced by ours (functions.c), which check the budget themselves.
 */
#include "CSQLite.h"

#include <stdatomic.h>
#include <stddef.h>
#include <time.h>

/* SQLite's own allocator. Written once, before any thread starts. */
static sqlite3_mem_methods inner;

/* The amount of work between two readings of the clock. An allocation counts 1, and 1 more for each 4 kB. */
static const int64_t patience = 128;

/* The state of each thread. */
static _Thread_local __attribute__((tls_model("initial-exec"))) struct {
  sqlite_budget limits;
  /* Bytes that the thread has allocated and not freed. Negative when it freed allocations of other threads. */
  int64_t bytes;
  /* Work that is left until the clock is read. */
  int64_t countdown;
  sqlite_budget_end end;
} thread = {{INT64_MAX, INT64_MAX, INT64_MAX, 0}, 0, 0, SQLITE_BUDGET_LEFT};

static int64_t nanoseconds(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static int64_t lesser(int64_t a, int64_t b) { return a < b ? a : b; }

/* `start` may be negative: a thread may have freed more than it has allocated. */
static int64_t after(int64_t start, int64_t length) {
  return start > 0 && length > INT64_MAX - start ? INT64_MAX : start + length;
}

sqlite_budget sqlite_budget_begin(int64_t bytes, int64_t time, int64_t processor_time, int stops_in_allocations) {
  sqlite_budget before = thread.limits;
  if (bytes < INT64_MAX) thread.limits.bytes = lesser(before.bytes, after(thread.bytes, bytes));
  if (time < INT64_MAX) thread.limits.deadline = lesser(before.deadline, after(nanoseconds(CLOCK_MONOTONIC), time));
  if (processor_time < INT64_MAX) {
    int64_t now = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
    thread.limits.processor_deadline = lesser(before.processor_deadline, after(now, processor_time));
  }
  thread.limits.stops_in_allocations = stops_in_allocations;
  thread.countdown = patience;
  thread.end = SQLITE_BUDGET_LEFT;
  return before;
}

void sqlite_budget_restore(sqlite_budget before) { thread.limits = before; }

sqlite_budget_end sqlite_budget_reason(void) { return thread.end; }

void sqlite_budget_refuse(void) { thread.end = SQLITE_BUDGET_NO_STEPS; }

/* Reads the clocks. Whether the deadline passed more than `late` ago, or the processor time is used up. */
static int is_late(int64_t late) {
  thread.countdown = patience;
  if (nanoseconds(CLOCK_MONOTONIC) > after(thread.limits.deadline, late)) return 1;
  return thread.limits.processor_deadline != INT64_MAX &&
         nanoseconds(CLOCK_THREAD_CPUTIME_ID) > thread.limits.processor_deadline;
}

int sqlite_budget_is_spent(void) {
  if (thread.bytes > thread.limits.bytes) {
    thread.end = SQLITE_BUDGET_NO_MEMORY;
  } else if (is_late(0)) {
    thread.end = SQLITE_BUDGET_NO_TIME;
  } else {
    return 0;
  }
  return 1;
}

int sqlite_budget_work(int64_t work) {
  if (thread.countdown > work) {
    thread.countdown -= work;
    return 0;
  }
  return sqlite_budget_is_spent();
}

/* While a statement runs, SQLite is interrupted first, because a failed allocation would end its transaction. Code that
 * does not check for interrupts may use this much more memory before allocations fail. */
static const int64_t grace_bytes = 64 << 20;
static const int64_t grace_nanoseconds = 100000000;

static int refuses(int64_t size) {
  if (thread.limits.bytes == INT64_MAX && thread.limits.deadline == INT64_MAX &&
      thread.limits.processor_deadline == INT64_MAX) {
    return 0;
  }
  int is_compiling = thread.limits.stops_in_allocations;
  if (after(thread.bytes, size) > after(thread.limits.bytes, is_compiling ? 0 : grace_bytes)) {
    thread.end = SQLITE_BUDGET_NO_MEMORY;
    return 1;
  }
  thread.countdown -= 1 + size / 4096;
  if (thread.countdown > 0 || !is_late(is_compiling ? 0 : grace_nanoseconds)) return 0;
  thread.end = SQLITE_BUDGET_NO_TIME;
  return 1;
}

static void *allocate(int size) {
  if (refuses(size)) return NULL;
  void *memory = inner.xMalloc(size);
  if (memory) thread.bytes += inner.xSize(memory);
  return memory;
}

static void release(void *memory) {
  thread.bytes -= inner.xSize(memory);
  inner.xFree(memory);
}

static void *reallocate(void *memory, int size) {
  int64_t before = inner.xSize(memory);
  if (size > before && refuses(size - before)) return NULL;
  void *result = inner.xRealloc(memory, size);
  if (result) thread.bytes += inner.xSize(result) - before;
  return result;
}

static int size(void *memory) { return inner.xSize(memory); }

/* Runs before `main`, because SQLite accepts no other allocator once it has allocated memory. */
__attribute__((constructor)) static void install(void) {
  if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &inner) != SQLITE_OK) return;
  sqlite3_mem_methods methods = inner;
  methods.xMalloc = allocate;
  methods.xFree = release;
  methods.xRealloc = reallocate;
  methods.xSize = size;
  sqlite3_config(SQLITE_CONFIG_MALLOC, &methods);
  /* By default each connection sets 87 kB aside for pages and 48 kB for small things, however small its file is. */
  sqlite3_config(SQLITE_CONFIG_PAGECACHE, NULL, 0, 0);
  sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 512, 24);
}
