#!/usr/bin/env bash
# cluster.sh
#
# docker/cluster.yaml without containers, on this machine's loopback: three brokers (nats-server), the demo, a server
# next to the demo's writer, two replicas, and a load balancer where Caddy is installed. Runs until Ctrl-C and starts
# what is killed again; then everything is ended, and the files, which are in a temporary folder, are removed.
#
#   PORT=8080         the balancer's port; the next ones are the replicas' and the writer's
#   BROKER_PORT=14222 the first broker's port, then come the others'; 2000 higher are those for each other. Not 4222,
#   where
#                     Debian's package starts a broker of its own
#   ROWS=244292       wells of the demo
#   FRESHET_BIN       the program, by default .build/release/freshet
set -euo pipefail
cd "$(dirname "$0")/.."

PATH=$PATH:/usr/sbin
freshet=${FRESHET_BIN:-.build/release/freshet}
port=${PORT:-8080}
broker_port=${BROKER_PORT:-14222}
rows=${ROWS:-244292}
patience=60 # seconds, for a part to answer
folder=
declare -A pids=() started=() ports=()
names=() # in the order of their start
stream='' routes=''

fail() { # sentence, part whose log says more
  printf 'FAILED  %s\n' "$1" >&2
  if [[ -n ${2:-} && -s $folder/$2.log ]]; then
    printf '        the end of its log:\n' >&2
    tail -n 20 "$folder/$2.log" | sed 's/^/        | /' >&2
  fi
  exit 1
}

finish() {
  local status=$? index name
  trap '' INT TERM
  if ((${#names[@]} > 0)); then echo 'Ending'; fi
  # Parts that need others are ended before them.
  for ((index = ${#names[@]} - 1; index >= 0; index--)); do
    name=${names[index]}
    kill -TERM "${pids[$name]}" 2>/dev/null || continue
    for _ in {1..100}; do
      kill -0 "${pids[$name]}" 2>/dev/null || continue 2
      sleep 0.1
    done
    kill -KILL "${pids[$name]}" 2>/dev/null || true
  done
  wait
  if [[ -n $folder ]]; then rm -rf "$folder"; fi
  exit "$status"
}

# Each in a session of its own, where Ctrl-C does not reach it: `finish` ends them in order. The system ends them when
# this script is killed.
launch() { # part, command…
  local name=$1
  shift
  setsid setpriv --pdeathsig TERM "$@" >>"$folder/$name.log" 2>&1 </dev/null &
  pids[$name]=$!
  started[$name]=$SECONDS
}

start() { # part
  local number=${1: -1}
  case $1 in
    broker?) launch "$1" nats-server -n "$1" -js -sd "$folder/$1" -a 127.0.0.1 -p "${ports[$1]}" \
      --cluster_name freshet --cluster "nats://127.0.0.1:$((broker_port + 2000 + number - 1))" --routes "$routes" ;;
    # The program that writes, which knows nothing of replication. Its own page is not used here.
    demo) launch demo env FRESHET_CACHE="$folder" "$freshet" demo --rows "$rows" --port 0 ;;
    writer) launch writer "$freshet" serve "$folder/wells-$rows.sqlite" --port "${ports[writer]}" --allow-writes \
      --config docker/cluster/writer.yaml --publish "$stream" ;;
    replica?) launch "$1" "$freshet" serve "$folder/$1.sqlite" --port "${ports[$1]}" --allow-writes --replicate "$stream" ;;
    balancer) launch balancer env BALANCER_ADDRESS=127.0.0.1 BALANCER_PORT="$port" HOME="$folder" \
      REPLICAS="127.0.0.1:${ports[replica1]} 127.0.0.1:${ports[replica2]}" \
      caddy run --config docker/cluster/Caddyfile --adapter caddyfile ;;
  esac
}

is_taken() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }
is_ready() { "$freshet" health "http://127.0.0.1:${ports[$1]}/readyz" >/dev/null 2>&1; }
# The demo listens once its file exists.
demo_is_made() { grep -q '^Open ' "$folder/demo.log"; }

status=0
has_ended() { # part; sets `status`
  if kill -0 "${pids[$1]}" 2>/dev/null; then return 1; fi
  status=0
  wait "${pids[$1]}" || status=$?
}

add() { # part, condition that says that it is there, and its argument
  local name=$1 deadline=$((SECONDS + patience))
  shift
  start "$name"
  names+=("$name")
  until "$@"; do
    if has_ended "$name"; then fail "$name did not start (status $status)" "$name"; fi
    if ((SECONDS >= deadline)); then fail "$name is not ready after $patience seconds" "$name"; fi
    sleep 0.1
  done
}

# Killed processes are started again, as with `restart: unless-stopped`.
supervise() {
  local name early=0
  while sleep 0.5; do
    for name in "${names[@]}"; do
      has_ended "$name" || continue
      if ((SECONDS - started[$name] < 3)); then ((++early)); else early=0; fi
      if ((early > 2)); then fail "$name ends again and again (status $status)" "$name"; fi
      start "$name"
      echo "$name ended (status $status) and was started again: process ${pids[$name]}"
    done
  done
}

[[ -x $freshet ]] || fail "there is no $freshet: make build"
command -v nats-server >/dev/null || fail 'nats-server is not installed: scripts/packages.sh cluster'
for number in 1 2 3; do
  ports[broker$number]=$((broker_port + number - 1))
  ports[route$number]=$((broker_port + 2000 + number - 1))
  stream+=${stream:+,}127.0.0.1:${ports[broker$number]}
  routes+=${routes:+,}nats://127.0.0.1:${ports[route$number]}
done
stream=nats://$stream/demo
ports+=([balancer]=$port [replica1]=$((port + 1)) [replica2]=$((port + 2)) [writer]=$((port + 3)))
for name in "${!ports[@]}"; do
  if is_taken "${ports[$name]}"; then
    fail "port ${ports[$name]} ($name) is in use: choose others, such as PORT=9000 BROKER_PORT=24222 make cluster"
  fi
done

trap finish EXIT
trap 'exit 130' INT TERM
folder=$(mktemp -d "${TMPDIR:-/tmp}/freshet-cluster.XXXXXX")
echo "Starting three brokers, the demo ($rows wells), its server and two replicas; files and logs: $folder"
for number in 1 2 3; do add broker$number is_taken "${ports[broker$number]}"; done
add demo demo_is_made
add writer is_ready writer
for number in 1 2; do add replica$number is_ready replica$number; done
if command -v caddy >/dev/null; then
  add balancer is_ready balancer
  balanced="http://127.0.0.1:$port/ leads to either of them (Caddy)"
else
  balanced='There is no load balancer: Caddy is not installed (apt-get install caddy)'
fi

cat <<END

Open these two in two windows: an edit in one appears in the other.

  http://127.0.0.1:${ports[replica1]}/   replica1, process ${pids[replica1]}
  http://127.0.0.1:${ports[replica2]}/   replica2, process ${pids[replica2]}

$balanced.
How far each is: $freshet status $stream
Kill any process with -9, a broker (${pids[broker1]}, ${pids[broker2]}, ${pids[broker3]})
or the writer's server (${pids[writer]}) too: it is started again, and nothing is lost. Ctrl-C ends everything.
END
trap 'exit 0' INT TERM
supervise
