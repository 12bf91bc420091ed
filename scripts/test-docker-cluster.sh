#!/usr/bin/env bash
# Runs docker/cluster.yaml with the image that scripts/test-docker.sh has built, and looks at it through its load
# balancer: what is written through one replica is read from the other, also while a replica and a broker are killed,
# and those have it when they are back. Without a Docker daemon only the file is checked; without compose nothing is.
# Both say so and succeed. PORT (default 18080) is the balancer's port on this machine's loopback.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf '%s\n' "$*"; }
fail() { say "FAILED  $*" >&2; compose logs --tail 20 >&2 || true; exit 1; }

export PORT=${PORT:-18080}
address=http://127.0.0.1:$PORT
log=nats://broker1,broker2,broker3/demo
project=freshet-cluster-test-$$
compose() { scripts/compose.sh -p "$project" -f docker/cluster.yaml "$@"; }

if ! scripts/compose.sh version >/dev/null 2>&1; then
  say 'skipped: there is no docker compose here'
  exit 0
fi
compose config >/dev/null || { say 'FAILED  docker/cluster.yaml is not valid' >&2; exit 1; }
if ! docker info >/dev/null 2>&1; then
  say 'docker/cluster.yaml is valid; skipped: no Docker daemon answers here'
  exit 0
fi

within() { # seconds, then a command that succeeds in the end
  local deadline=$((SECONDS + $1))
  shift
  until "$@"; do
    if ((SECONDS >= deadline)); then return 1; fi
    sleep 0.5
  done
}
is_ready() { curl -fsS -o /dev/null "$address/readyz" 2>/dev/null; }
follow() { # how many replicas follow, none of them late
  local status
  status=$(compose exec -T writer freshet status "$log") && [[ $(grep -c ' following' <<<"$status") == "$1" ]]
}
rename() { # the first bank's name
  curl -fsS "$address/v1/transactions" -H 'Content-Type: application/json' -o /dev/null \
    -d '{"statements": [{"sql": "UPDATE bank SET name = :name WHERE id = 1", "params": {"name": "'"$1"'"}}]}' 2>/dev/null
}
is_called() {
  local answer
  answer=$(curl -fsSG "$address/v1/snapshot" --data-urlencode 'from=bank' --data-urlencode 'where=name = :name' \
    --data-urlencode "param.name=$1" 2>/dev/null) && [[ $answer == *'"total":1'* ]]
}

trap 'compose down -v >/dev/null 2>&1' EXIT
compose up -d
within 120 is_ready || fail 'no replica is ready after two minutes'
within 60 follow 2 || fail 'two replicas do not follow'
[[ $(curl -fsS "$address/") == *'<title>'* ]] || fail 'the page is not served'
[[ $(curl -sS -o /dev/null -w '%{http_code}' -H 'Host: other.example' "$address/v1/snapshot?from=bank") == 403 ]] \
  || fail 'another host name is answered to'

rename 'First' || fail 'a write is refused'
# New connections go from one replica to the other.
for _ in {1..6}; do is_called First || fail 'a write through one replica is not read from the other'; done

compose kill -s KILL replica1 broker2
within 30 rename 'Second' || fail 'nothing can be written without one replica and one broker'
within 5 is_called Second || fail 'what was written is not read'
compose start replica1 broker2
within 60 follow 2 || fail 'the replica that was killed does not follow again'

# The replica that was away is now the only one.
compose kill -s KILL replica2
within 30 is_called Second || fail 'the replica that was killed does not have what was written meanwhile'
compose kill -s KILL writer
within 5 is_called Second || fail 'a replica does not serve without the writer'
compose start writer
within 60 rename 'Third' || fail 'nothing can be written after the start of the writer'
within 5 is_called Third || fail 'what was written after the start of the writer is not read'
say 'passed: docker/cluster.yaml'
