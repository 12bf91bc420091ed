#!/usr/bin/env bash
# Installs the wheel that `make dist` made into empty environments of the newest and the oldest Python here, without the
# project's own folders in reach, and tries it: the command, the package's tests, and what docs/python.md shows.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/python-envs.sh

wheel=$(ls "$PWD"/.build/dist/freshet-*-manylinux*.whl 2>/dev/null) || { echo 'skipped  the Python wheel: there is none (make dist)'; exit 0; }
version=$(basename "$wheel" | cut -d - -f 2)
say() { printf '=== %s\n' "$*"; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
FRESHET_CORPUS=$(node scripts/corpus.mjs)
export FRESHET_CORPUS

# Libraries that every Linux with this C library has, and that manylinux therefore leaves out.
own='(linux-vdso|ld-linux|libc|libm|libdl|libpthread|librt|libresolv|libgcc_s|libstdc\+\+|libz)[-.]'

try() { # Python's version, its path
  local bin=$folder/$1/bin command
  say "Python $1: the wheel alone"
  "$2" -m venv "$folder/$1"
  "$bin/pip" install --quiet --disable-pip-version-check "$wheel"
  command=$("$bin/python" -c 'from freshet._binary import binary; print(binary())')
  [[ $(cd / && env -i "$bin/freshet" --version) == "$version"* ]]
  [[ $(cd / && env -i "$bin/python" -m freshet --version) == "$version"* ]]
  if "$bin/freshet" no-such-command 2>/dev/null; then echo 'failed  an unknown subcommand succeeds'; return 1; fi
  if ldd "$command" | grep -v "$folder/$1/lib/.*freshet.libs/" | grep -vE "$own"; then
    echo 'failed  these libraries are not in the wheel'
    return 1
  fi
  say "Python $1: its tests"
  "$bin/pip" install --quiet --disable-pip-version-check -r python/tests/requirements.txt
  (cd python/tests && env -u PYTHONPATH FRESHET_BIN="$command" "$bin/python" -m pytest -p no:cacheprovider --rootdir . -c ../pyproject.toml -rs)
}

client_alone() { # Python's version, its path
  local bin=$folder/client/bin
  say "Python $1: the source archive, without the command"
  "$2" -m venv "$folder/client"
  "$bin/pip" install --quiet --disable-pip-version-check "$PWD/.build/dist/freshet-$version.tar.gz"
  (cd / && env -u FRESHET_BIN PATH="$bin:/usr/bin:/bin" "$bin/python" -c '
import freshet
try:
    freshet.serve("app.sqlite")
except freshet.FreshetError as error:
    assert error.code == "no_server", error
else:
    raise SystemExit("there is a server")')
  if PATH="$bin:/usr/bin:/bin" "$bin/freshet" --version 2>"$folder/said"; then return 1; fi
  grep -qF 'take the wheel for Linux' "$folder/said"
}

available=$(pythons)
read -r newest path < <(tail -n 1 <<<"$available")
try "$newest" "$path"
client_alone "$newest" "$path"
say 'docs/python.md'
BUILD=release PATH=$folder/$newest/bin:$PATH scripts/check-readme.sh docs/python.md
read -r oldest path < <(head -n 1 <<<"$available")
[[ $oldest == "$newest" ]] || try "$oldest" "$path"
say passed
