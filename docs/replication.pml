/* A model of how a file is replicated (docs/replication.md): a publisher, a broker that may lose the newest of what it had
 * acknowledged, and a replica that may be restarted at any time. `scripts/check-model.sh` has spin look at every way in which they
 * can interleave.
 *
 * What the source calls a hash is modelled by what it stands for: the publisher's history. Every commit makes a state of its own
 * (a number that no other has), and a batch carries the state that it leads from and the one that it leads to. An epoch begins
 * with every start of the publisher, who has forgotten what it published.
 *
 * Shown:
 *   - a replica applies a batch in the state that the batch leads from, and in no other: nothing is skipped, nothing applied twice
 *     or out of order (the assertions in `replica`);
 *   - what a replica has was a state of the file (the same);
 *   - when nothing happens any more, the replica reaches the file's state (`converges`).
 */

#ifndef COMMITS
#define COMMITS 3   /* that foreign programs make */
#endif
#define LOSSES 2    /* of the broker's newest messages */
#define STARTS 2    /* of the publisher */
#define CRASHES 1   /* of the replica */
/* Mistakes that the checks have to find: `scripts/check-model.sh` tries each. */
#ifdef WITHOUT_HASH
#define FOLLOWS(m) true
#else
#define FOLLOWS(m) (log_from[m] == copy)
#endif
#ifdef WITHOUT_NUMBERS
#define COMES_NEXT(m) (log_number[m] > place_number)
#else
#define COMES_NEXT(m) (log_number[m] == place_number + 1)
#endif

#define SLOTS 8     /* of the log: more than can be needed */
#define KEPT 1      /* batches that a publisher keeps to publish them again */

/* The file: how many commits it has seen. That is its state. */
byte file = 0;
byte losses = 0, starts = 0, crashes = 0;

/* The log: for every message the epoch, the batch's number in it, and the states that it leads from and to. */
byte logged = 0;
byte log_epoch[SLOTS], log_number[SLOTS], log_from[SLOTS], log_to[SLOTS];

/* The newest snapshot: of which epoch, after which batch, and what it shows. */
bool has_snapshot = false, wants_snapshot = false;
byte snapshot_epoch, snapshot_number, snapshot_state;

/* The publisher. What it has published and keeps: a ring of KEPT batches behind `oldest`. */
bool is_publishing = false;
byte epoch = 0, number = 0, state = 0, oldest = 0;
byte kept_from[SLOTS], kept_to[SLOTS];
/* The messages that the stream had when the publisher's last one was acknowledged; SLOTS + 1: it does not know. */
byte expected = 0;

/* The replica: what it applied is in its file, and so is its place. */
bool has_place = false;
byte place_epoch, place_number, copy = 0;
byte at = 0;          /* the message to be read next */
bool in_place = false; /* whether the place was found in the log */

inline append(e, n, f, t) {
  log_epoch[logged] = e; log_number[logged] = n; log_from[logged] = f; log_to[logged] = t;
  logged++
}

/* Foreign programs. */
active proctype writer() {
  do
  :: file < COMMITS -> file++
  :: file == COMMITS -> break
  od
}

/* The broker forgets its newest message, as it does when it is killed. */
active proctype broker() {
  do
  :: atomic { losses < LOSSES && logged > 0 -> losses++; logged-- }
  :: losses == LOSSES -> break
  :: file == COMMITS -> break
  od
}

active proctype publisher() {
  byte i;
end_waiting:
  do
  /* It begins: what went before is forgotten, and the file is followed from here on. */
  :: atomic { !is_publishing && logged < SLOTS ->
       starts++; epoch++; number = 0; oldest = 0; state = file; kept_from[0] = file;
       append(epoch, 0, file, file);
       expected = logged; is_publishing = true
     }
  /* A tick: what changed since the last one is a batch, in memory first. */
  :: atomic { is_publishing && expected == logged && file != state && logged < SLOTS ->
       number++;
       kept_from[number] = state; kept_to[number] = file;
       state = file;
       if
       :: number - oldest > KEPT -> oldest = number - KEPT
       :: else
       fi;
       append(epoch, number, kept_from[number], kept_to[number]);
       expected = logged
     }
  /* The stream's last message is another one than expected: what was lost is published again, as far as it is kept. */
  :: atomic { is_publishing && expected != logged ->
       if
       :: logged > 0 && log_epoch[logged - 1] == epoch -> i = log_number[logged - 1] + 1
       :: else -> i = 0
       fi;
       if
       :: i > 0 && i <= oldest -> i = oldest + 1
       :: i == 0 && oldest > 0 -> i = oldest + 1
       :: else
       fi;
       do
       :: i <= number && logged < SLOTS ->
            if
            :: i == 0 -> append(epoch, 0, kept_from[0], kept_from[0])
            :: else -> append(epoch, i, kept_from[i], kept_to[i])
            fi;
            i++
       :: else -> break
       od;
       expected = logged
     }
  /* A snapshot, which is asked for: of the state after the newest batch, when that is in the log. */
  :: atomic { is_publishing && wants_snapshot && expected == logged && file == state ->
       has_snapshot = true; wants_snapshot = false;
       snapshot_epoch = epoch; snapshot_number = number; snapshot_state = state
     }
  /* It is killed. */
  :: atomic { is_publishing && starts < STARTS -> is_publishing = false }
  od
}

active proctype replica() {
end_waiting:
  do
  /* It is killed, and begins with what its file has. */
  :: atomic { crashes < CRASHES -> crashes++; at = 0; in_place = false }
  /* From a snapshot of the log's epoch, from which the log leads on. */
  :: atomic { ((!has_place || at == SLOTS + 1) && has_snapshot && logged > 0 && log_epoch[logged - 1] == snapshot_epoch &&
       log_number[logged - 1] >= snapshot_number) ->
       has_place = true; place_epoch = snapshot_epoch; place_number = snapshot_number; copy = snapshot_state;
       has_snapshot = false; at = 0; in_place = false
     }
  /* There is none that is of use: one is asked for. */
  :: atomic { (!has_place || at == SLOTS + 1) && !wants_snapshot && !has_snapshot -> wants_snapshot = true }
  :: atomic { ((!has_place || at == SLOTS + 1) && has_snapshot && logged > 0 &&
       (log_epoch[logged - 1] != snapshot_epoch || log_number[logged - 1] < snapshot_number)) -> has_snapshot = false }
  /* The stream is shorter than it was, or all of it was read without a place: it is read anew, or is of no use. */
  :: atomic { has_place && at != SLOTS + 1 && at > logged -> at = 0; in_place = false }
  :: atomic { has_place && at != SLOTS + 1 && at == logged && !in_place && logged > 0 -> at = SLOTS + 1 }
  /* The publisher says four times a second how far it is. Who is behind it and gets nothing reads the stream anew: without that a
   * replica would wait for ever for a message behind one that the broker has lost and put another in its place. */
#ifndef WITHOUT_NOTICE
  :: atomic { (has_place && at == logged && in_place && is_publishing && expected == logged &&
       (epoch != place_epoch || number > place_number)) -> at = 0; in_place = false }
#endif
  /* A message. */
  :: atomic { has_place && at < logged ->
       if
       :: log_epoch[at] != place_epoch ->
            if
            :: in_place -> at = SLOTS + 1
            :: else -> at++
            fi
       :: log_epoch[at] == place_epoch && log_number[at] < place_number -> at++
       :: log_epoch[at] == place_epoch && log_number[at] == place_number ->
            if
            /* The hash: another batch of this number would be a fork. */
            :: log_to[at] == copy -> in_place = true; at++
            :: else -> at = SLOTS + 1
            fi
       :: log_epoch[at] == place_epoch && COMES_NEXT(at) ->
            if
            /* The hash again. */
            :: FOLLOWS(at) ->
                 assert(log_from[at] == copy);
                 copy = log_to[at];
                 assert(copy <= file);
                 place_number++; in_place = true; at++
            :: else -> at = SLOTS + 1
            fi
       :: else -> at = SLOTS + 1
       fi
     }
  od
}

/* When nobody can do anything any more, all is as it should be: nobody waits for what never comes. */
active proctype observer() {
end_watching:
  timeout -> assert(file == COMMITS && copy == file)
}

/* In the end they agree. With weak fairness: whoever can go on does some day. */
ltl converges { <> [] (file == COMMITS && copy == file) }
