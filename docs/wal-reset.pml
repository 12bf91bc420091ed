/* A model of SQLite's WAL-reset bug, and of the rule by which Freshet's connections checkpoint (docs/wal-reset.md).
 * `scripts/check-model.sh` has spin look at every interleaving.
 *
 * The file has one page, and its content is the number of the commit that wrote it: what a transaction reads has to be the number in
 * the WAL-index header that it began with. Each step that is not `atomic` may be followed by a step of another process. Locks are
 * those of the WAL-index: WRITE, CKPT, READ0 (readers of the database file alone) and READ1 (readers of the WAL; SQLite has four,
 * each with a mark).
 *
 * A process is a connection that reads, commits, and checkpoints after its commits: by itself (`program`), or by the rule (`ours`).
 *
 *   BUG          two programs that checkpoint as SQLite up to 3.51.2 does                     the bug
 *   FIXED        the same with 3.51.3's check of the salts                                    no error
 *   FULL         the same with a FULL checkpoint, which goes on as PASSIVE without the lock   the bug
 *   RULE         two that checkpoint by the rule                                              no error
 *   LEAVES       one that checkpoints by itself, and one of ours that leaves it to that       no error
 *   INTRUDES     one that checkpoints by itself, and one of ours that does so by the rule     the bug, of the other one
 */

#ifdef FULL
#define MAY_BE_FULL true
#else
#define MAY_BE_FULL false
#endif
#ifdef FIXED
#define IS_FIXED true
#else
#define IS_FIXED false
#endif

#ifndef COMMITS
#define COMMITS 4   /* that are begun at least */
#endif
#define SLOTS 8

/* The WAL-index header, written and read as one: its generation (the salts), its last frame, and which commit it stands for. */
byte generation = 1, last = 0, commit = 0;
/* Behind the header, each written by itself. */
byte backfilled = 0, mark = 0;
/* The files. */
byte frame[SLOTS], database = 0;
/* Locks: who holds one exclusively, and how many share it. */
bool write_lock = false, checkpoint_lock = false, read0_exclusive = false, read1_exclusive = false;
byte read0_shared = 0, read1_shared = 0;
/* Commits that were begun. */
byte begun = 0;

#define HEADER_IS_MINE (generation == my_generation && last == my_last)

/* Begins to read: `holds` is 1 with READ0, 2 with READ1, 0 when it did not work. `uses_wal`: never READ0. */
inline begin_read(uses_wal) {
  atomic { my_generation = generation; my_last = last; my_commit = commit; holds = 0 };
  if
  :: !uses_wal && backfilled == my_last ->
       atomic {
         if
         :: !read0_exclusive -> read0_shared++; holds = 1
         :: else
         fi
       };
       if
       :: holds == 1 && !HEADER_IS_MINE -> atomic { read0_shared--; holds = 0 }
       :: else
       fi
  :: else ->
       if
       :: mark != my_last ->
            /* The mark is set by a reader that finds it unused. */
            atomic {
              if
              :: !read1_exclusive && read1_shared == 0 -> read1_exclusive = true; holds = 3
              :: else
              fi
            };
            if
            :: holds == 3 -> mark = my_last; atomic { read1_exclusive = false; holds = 0 }
            :: else
            fi
       :: else
       fi;
       atomic {
         if
         :: !read1_exclusive && mark == my_last -> read1_shared++; holds = 2
         :: else
         fi
       };
       if
       :: holds == 2 ->
            my_first = backfilled + 1;
            if
            :: mark != my_last || !HEADER_IS_MINE -> atomic { read1_shared--; holds = 0 }
            :: else
            fi
       :: else
       fi
  fi
}

inline end_read() {
  atomic {
    if
    :: holds == 1 -> read0_shared--
    :: holds == 2 -> read1_shared--
    :: else
    fi;
    holds = 0
  }
}

/* What a transaction sees is what its header stands for. */
inline look() {
  if
  :: holds == 2 && my_last >= my_first -> assert(frame[my_last] == my_commit)
  :: holds == 1 || (holds == 2 && my_last < my_first) -> assert(database == my_commit)
  :: else
  fi
}

/* BEGIN IMMEDIATE: `writes` when it worked. */
inline begin_write() {
  begin_read(false);
  atomic {
    if
    :: holds != 0 && !write_lock -> write_lock = true; writes = true
    :: else
    fi
  };
  if
  :: writes && !HEADER_IS_MINE -> atomic { write_lock = false; writes = false }
  :: else
  fi;
  if
  :: !writes -> end_read()
  :: else
  fi
}

/* A transaction that writes the page. The WAL starts over when all of it is in the database file and has no readers. */
inline write_page() {
  begin_write();
  if
  :: writes ->
       look();
       begun++;
       if
       :: holds == 1 && backfilled > 0 ->
            atomic {
              if
              :: read1_shared == 0 && !read1_exclusive -> read1_exclusive = true; restarts = true
              :: else
              fi
            };
            if
            :: restarts ->
                 atomic { generation++; last = 0 };
                 backfilled = 0;
                 mark = 0;
                 atomic { read1_exclusive = false; restarts = false }
            :: else
            fi;
            end_read();
            do
            :: holds == 0 -> begin_read(true)
            :: else -> break
            od
       :: holds == 1 ->
            end_read();
            do
            :: holds == 0 -> begin_read(true)
            :: else -> break
            od
       :: else
       fi;
       frame[last + 1] = commit + 1;
       atomic { last++; commit++ };
       atomic { write_lock = false; writes = false; wrote = true };
       end_read()
  :: else
  fi
}

/* A checkpoint. `wants_lock`: with the write lock, if it is to be had. */
inline checkpoint(wants_lock) {
  atomic {
    if
    :: !checkpoint_lock -> checkpoint_lock = true; checkpoints = true
    :: else
    fi
  };
  if
  :: checkpoints ->
       atomic {
         if
         :: wants_lock && !write_lock -> write_lock = true; is_full = true
         :: else
         fi
       };
       atomic { my_generation = generation; my_last = last };
       if
       :: backfilled < my_last ->
            safe = my_last;
            held = mark;
            if
            :: safe > held ->
                 atomic {
                   if
                   :: !read1_exclusive && read1_shared == 0 -> read1_exclusive = true; restarts = true
                   :: else -> safe = held
                   fi
                 };
                 if
                 :: restarts -> mark = safe; atomic { read1_exclusive = false; restarts = false }
                 :: else
                 fi
            :: else
            fi;
            if
            :: backfilled < safe ->
                 atomic {
                   if
                   :: !read0_exclusive && read0_shared == 0 -> read0_exclusive = true; restarts = true
                   :: else
                   fi
                 };
                 if
                 :: restarts && (!IS_FIXED || generation == my_generation) ->
                      /* Of each page its last frame is copied, if no reader still needs what was before. */
                      if
                      :: my_last <= safe && my_last > backfilled -> database = frame[my_last]
                      :: else
                      fi;
                      backfilled = safe
                 :: else
                 fi;
                 atomic {
                   if
                   :: restarts -> read0_exclusive = false; restarts = false
                   :: else
                   fi
                 }
            :: else
            fi
       :: else
       fi;
       atomic {
         if
         :: is_full -> write_lock = false; is_full = false
         :: else
         fi;
         checkpoint_lock = false; checkpoints = false
       }
  :: else
  fi
}

#define VARIABLES \
  byte my_generation = 0, my_last = 0, my_commit = 0, my_first = 0, holds = 0, safe = 0, held = 0; \
  bool writes = false, restarts = false, checkpoints = false, is_full = false, wrote = false

/* A program that knows no rule: it checkpoints after its own commits. */
proctype program() {
  VARIABLES;
  do
  :: begun < COMMITS ->
       write_page();
       if
       :: wrote -> checkpoint(MAY_BE_FULL)
       :: true
       fi;
       wrote = false
  :: begun >= COMMITS -> break
  od
}

/* Freshet's own writer. By the rule it checkpoints while it holds the write lock: BEGIN IMMEDIATE on this connection, the checkpoint
 * on another one, in which nothing is read. */
proctype ours(bool may_checkpoint) {
  VARIABLES;
  byte own_generation, own_last;
  do
  :: begun < COMMITS ->
       write_page();
       if
       :: wrote && may_checkpoint ->
            begin_write();
            if
            :: writes ->
                 own_generation = my_generation; own_last = my_last;
                 checkpoint(false);
                 /* Nothing was written, by nobody. */
                 assert(generation == own_generation && last == own_last);
                 atomic { write_lock = false; writes = false };
                 end_read()
            :: else
            fi
       :: true
       fi;
       wrote = false
  :: begun >= COMMITS -> break
  od
}

init {
  VARIABLES;
  atomic {
#if defined(RULE)
    run ours(true); run ours(true);
#elif defined(LEAVES)
    run program(); run ours(false);
#elif defined(INTRUDES)
    run program(); run ours(true);
#else
    run program(); run program();
#endif
    skip
  };
  /* When all have ended. */
  _nr_pr == 1;
  begin_read(false);
  look();
  end_read()
}
