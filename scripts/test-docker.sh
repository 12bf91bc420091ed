#!/usr/bin/env bash
# Builds the container image, runs it with docker/compose.yaml and looks at it from outside: it becomes healthy, every
# file of public/ and a snapshot are served, it runs without root on a read-only root, a write is still there after a
# restart and after the container was made anew, it stops in order, and it is healthy at another port, too. Without a
# Docker daemon or compose it says so and succeeds.
# PORT (default 18080) is the port on this machine's loopback.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf '%s\n' "$*"; }
fail() { say "FAILED  $*" >&2; exit 1; }

if ! docker info >/dev/null 2>&1; then
  say 'skipped: no Docker daemon answers here'
  exit 0
fi
if ! scripts/compose.sh version >/dev/null 2>&1; then
  say 'skipped: there is no docker compose here'
  exit 0
fi

export PORT=${PORT:-18080}
address=http://127.0.0.1:$PORT
project=freshet-test-$$
compose() { scripts/compose.sh -p "$project" -f docker/compose.yaml "$@"; }
container() { compose ps -q freshet; }
about() { docker inspect -f "$1" "$(container)"; }

wait_until_healthy() {
  local id=${1:-$(container)} state=starting
  for _ in {1..120}; do
    state=$(docker inspect -f '{{.State.Health.Status}}' "$id")
    if [[ $state == healthy ]]; then return; fi
    sleep 1
  done
  docker logs "$id" >&2
  fail "the container is $state after two minutes"
}

# Every file as it is here, and none that a browser would not know what to do with.
check_public() {
  local file type served
  served=$(mktemp)
  while read -r file; do
    type=$(curl -fsS -o "$served" -w '%{content_type}' "$address/$file") || fail "$file is not served"
    cmp -s "$served" "public/$file" || fail "$file is served, but not as it is in public/"
    [[ $type != application/octet-stream ]] || fail "$file is served without a type"
  done < <(cd public && find . -type f -not -path '*/.*' -printf '%P\n')
  rm "$served"
}

# A row that must survive a restart: one more well, like the first one but for its name.
note="Kept by test-docker $$"
insertion='INSERT INTO well(name, county, operator, status, depth, county_id, operator_id)'
insertion+=' SELECT :note, county, operator, status, depth, county_id, operator_id FROM well ORDER BY id LIMIT 1'
write_something() {
  curl -fsS "$address/v1/transactions" -H 'Content-Type: application/json' \
    -d '{"statements": [{"sql": "'"$insertion"'", "params": {"note": "'"$note"'"}}]}' >/dev/null
}
is_kept() {
  curl -fsSG "$address/v1/snapshot" --data-urlencode 'from=well' --data-urlencode 'where=name = :note' \
    --data-urlencode "param.note=$note" | grep -q '"total":1'
}

revision=$(git rev-parse --short=9 HEAD)
compose build --build-arg "REVISION=$revision"
docker run --rm freshet:latest --version | grep -q "($revision)" || fail '--version does not name the commit'
other=
trap 'compose down -v >/dev/null 2>&1; [[ -z $other ]] || docker rm -fv "$other" >/dev/null' EXIT
compose up -d
wait_until_healthy
curl -fsS "$address/healthz" >/dev/null || fail 'healthz does not answer'
[[ $(curl -fsS "$address/") == *'<title>'* ]] || fail 'the page is not served'
check_public
[[ $(about '{{.Config.User}}') == 10001 ]] || fail 'the container runs as another user'
[[ $(about '{{.HostConfig.ReadonlyRootfs}}') == true ]] || fail 'the root filesystem can be written'
[[ $(about '{{(index (index .NetworkSettings.Ports "8080/tcp") 0).HostIp}}') == 127.0.0.1 ]] \
  || fail 'the port is published wider than loopback'

write_something || fail 'a write is refused'
compose restart
wait_until_healthy
is_kept || fail 'the write is gone after a restart'
compose rm -sf freshet >/dev/null
compose up -d
wait_until_healthy
is_kept || fail 'the write is gone after the container was made anew'

id=$(container)
compose stop
[[ $(docker inspect -f '{{.State.ExitCode}}' "$id") == 0 ]] || fail 'it does not stop in order on SIGTERM'

other=$(docker run -d -e FRESHET_PORT=9000 freshet:latest demo --rows 1000)
wait_until_healthy "$other"
docker rm -fv "$other" >/dev/null
other=
compose down -v >/dev/null

# A database of one's own, by one variable, with TLS.
folder=$(mktemp -d)
sqlite3 "$folder/app.sqlite" 'PRAGMA journal_mode = WAL; CREATE TABLE t(id INTEGER PRIMARY KEY); INSERT INTO t VALUES (7)' >/dev/null
chown -R 10001 "$folder"
FOLDER=$folder compose up -d
wait_until_healthy
curl -fsS "$address/v1/snapshot?from=t" | grep -q '"total":1' || fail 'the folder is not served'
FOLDER=$folder compose down -v >/dev/null
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=lists.example -keyout "$folder/key.pem" -out "$folder/cert.pem" 2>/dev/null
chown -R 10001 "$folder"
other=$(docker run -d -v "$folder:/data" -e FRESHET_TLS_CERT=/data/cert.pem -e FRESHET_TLS_KEY=/data/key.pem freshet:latest serve /data --host 0.0.0.0)
wait_until_healthy "$other"
docker exec "$other" freshet health >/dev/null || fail 'the health check does not work with TLS'
rm -rf "$folder"
say "passed: $(docker image inspect -f '{{.Size}}' freshet:latest | awk '{ printf "%.0f MB", $1 / 1e6 }')"
