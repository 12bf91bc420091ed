#!/usr/bin/env bash
# packages.sh build|dist|web|npm|clients|python|browser|readme|guides|instructions|cluster|replicas|proxies|tenants|model|fuzz|test
# Makes sure that the packages of the target of that name are installed (`test`: those of all targets). On Debian and
# its relatives the missing packages are installed with apt-get, through sudo when not root; elsewhere their names are
# printed and nothing is touched. Nothing missing: nothing happens. Installed programs are found by use, not by package
# name, so a libwebsockets built by hand or a Node from nodejs.org counts.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf '%s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }

missing=()
need() { # package, then a command that succeeds when it is there
  local package=$1
  shift
  if [[ " ${missing[*]} " == *" $package "* ]] || "$@" >/dev/null 2>&1; then return; fi
  missing+=("$package")
}

have_libev() {
  compgen -G "$(pkg-config --variable=libdir libwebsockets)/libwebsockets-evlib_ev*" || ! command -v apt-get
}
have_python() { scripts/python.sh -c 'pass'; }
have_venv_with() { scripts/python.sh -c "import $1" || python3 -c 'import ensurepip, venv'; }
have_node() { node -e 'process.exit(parseInt(process.versions.node) >= 18 ? 0 : 1)'; }
# In /usr/sbin, where no ordinary PATH leads.
have_nats_server() { command -v nats-server || test -x /usr/sbin/nats-server; }
have_cxx_library() { compgen -G '/usr/lib/gcc/*/*/libstdc++.so' || ! command -v apt-get; }
have_chromium() { scripts/chromium.sh; }

look_for_build() {
  need pkg-config command -v pkg-config
  need libwebsockets-dev pkg-config --exists libwebsockets
  need libssl-dev pkg-config --exists openssl
  # Not for building: the server waits with epoll when it is there.
  need libwebsockets-evlib-ev have_libev
  need libsqlite3-dev pkg-config --exists sqlite3
  need zlib1g-dev pkg-config --exists zlib
  need libnats-dev pkg-config --exists libnats
  need sqlite3 command -v sqlite3
}

look_for_proxies() {
  need nginx test -x /usr/sbin/nginx
  need caddy command -v caddy
  need haproxy test -x /usr/sbin/haproxy
  need curl command -v curl
  need openssl command -v openssl
}

# For trying what is installed: scripts/test-dist.sh.
look_for_dist() {
  need debootstrap command -v debootstrap
  need systemd-container command -v systemd-nspawn
  need dpkg-dev command -v dpkg-shlibdeps
  # Foundation, which is in the binary, needs it.
  need libcurl4-openssl-dev pkg-config --exists libcurl
}

look_for_web() {
  need nodejs have_node
  need node-typescript command -v tsc
  need esbuild command -v esbuild
  # Its types.
  need node-react test -e /usr/share/nodejs/@types/react
}

look_for_npm() {
  look_for_web
  need sqlite3 command -v sqlite3
  need node-react-dom test -e /usr/share/nodejs/react-dom
  need node-react-test-renderer test -e /usr/share/nodejs/react-test-renderer
}

look_for_clients() {
  need nodejs have_node
  need python3 have_python
  need python3-venv have_venv_with websockets
  need sqlite3 command -v sqlite3
  need golang-go command -v go
  need golang-github-gorilla-websocket-dev test -e /usr/share/gocode/src/github.com/gorilla/websocket
}

look_for_python() {
  need nodejs have_node
  need python3 have_python
  need python3-venv python3 -c 'import ensurepip, venv'
}

look_for_browser() {
  look_for_cluster
  need chromium have_chromium
  need nodejs have_node
  need procps command -v ps
  need sqlite3 command -v sqlite3
  need python3 have_python
  need python3-venv have_venv_with playwright
  need python3-venv have_venv_with websockets
  # For the README's example, run in the browser.
  need node-react test -e /usr/share/nodejs/react/umd
  need node-react-dom test -e /usr/share/nodejs/react-dom/umd
}

# Caddy is used when it is there, but not installed: Debian's package starts a server at port 80.
look_for_cluster() { need nats-server have_nats_server; }

look_for_replicas() {
  look_for_cluster
  need iproute2 command -v ip
  need python3 have_python
  need python3-venv have_venv_with websockets
}

look_for_tenants() {
  need nodejs have_node
  need python3 have_python
  need python3-venv have_venv_with websockets
  need ruby command -v ruby
  need ruby-activerecord ruby -e 'require "active_record"'
  need ruby-sqlite3 ruby -e 'require "sqlite3"'
  need php-cli command -v php
  need php-sqlite3 php -r 'new PDO("sqlite::memory:");'
  need php-illuminate-database php -r 'require "Illuminate/Database/autoload.php";'
}

look_for_model() {
  need spin command -v spin
  need gcc command -v cc
}

look_for_readme() { need curl command -v curl; }

# Caddy, nginx and Prometheus are used where they are: their packages start servers.
look_for_guides() {
  look_for_readme
  need sqlite3 command -v sqlite3
  need openssl command -v openssl
  need nodejs have_node
  need python3 have_python
  need ruby command -v ruby
  need ruby-sqlite3 ruby -e 'require "sqlite3"'
  need logrotate test -x /usr/sbin/logrotate
}

look_for_instructions() {
  need valgrind command -v valgrind
  need binutils command -v strip
  need sqlite3 command -v sqlite3
}

look_for_fuzz() {
  look_for_build
  # Swift's own toolchain has it on Linux.
  need libclang-rt-dev scripts/fuzz-library.sh
  # libFuzzer is written in C++.
  need g++ have_cxx_library
}

look_for_test() {
  look_for_build
  look_for_web
  look_for_npm
  look_for_clients
  look_for_python
  look_for_browser
  look_for_readme
  look_for_guides
  look_for_instructions
  look_for_replicas
  look_for_proxies
  look_for_tenants
  look_for_model
  # Holds up a server that is to be ended by force.
  need strace command -v strace
}

check_swift() {
  local version
  command -v swift >/dev/null || fail 'Freshet needs Swift 6.1 or newer: https://www.swift.org/install/linux/'
  version=$(swift --version 2>/dev/null | sed -nE 's/.*Swift version ([0-9]+\.[0-9]+).*/\1/p' | head -n 1)
  if [[ $(printf '%s\n' 6.1 "$version" | sort -V | head -n 1) != 6.1 ]]; then
    fail "Freshet needs Swift 6.1 or newer, and this is ${version:-unknown}: https://www.swift.org/install/linux/"
  fi
}

is_debian() {
  command -v apt-get >/dev/null && [[ -r /etc/os-release ]] && grep -qE '^ID(_LIKE)?=.*debian' /etc/os-release
}

install_missing() {
  local root=()
  is_debian || fail "Please install what Debian calls: ${missing[*]}"
  if [[ $(id -u) -ne 0 ]]; then
    command -v sudo >/dev/null || fail "Please run as root: apt-get install ${missing[*]}"
    root=(sudo)
  fi
  say "Installing: ${missing[*]}"
  local apt=("${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=600)
  "${apt[@]}" update
  "${apt[@]}" install -y --no-install-recommends "${missing[@]}" >/dev/null
}

# Installs Python packages into a folder of their own. The system's packages are visible there too, because python.sh
# runs only one Python.
install_python() { # its module, then options of pip
  if scripts/python.sh -c "import $1" 2>/dev/null; then return; fi
  say "Installing $1 for Python into .build/venv"
  [[ -x .build/venv/bin/python3 ]] || python3 -m venv --system-site-packages .build/venv
  .build/venv/bin/python3 -m pip install --quiet --disable-pip-version-check "${@:2}" "$1"
}

# Its test is skipped without it.
install_django() {
  install_python django --retries 1 --timeout 15 || say 'Django cannot be installed: its test will be skipped.'
}

# Checks how accessible pages are; its test is skipped without it.
install_axe() {
  install_python axe_playwright_python --retries 1 --timeout 15 || say 'axe cannot be installed: its test will be skipped.'
}

purpose=${1:-build}
declare -F "look_for_$purpose" >/dev/null || fail 'usage: packages.sh build|dist|web|npm|clients|python|browser|readme|guides|instructions|cluster|replicas|proxies|tenants|model|fuzz|test'
case $purpose in build | fuzz | test) check_swift ;; esac
"look_for_$purpose"
if ((${#missing[@]} > 0)); then
  install_missing
  missing=()
  "look_for_$purpose"
  ((${#missing[@]} == 0)) || fail "Still missing after installing: ${missing[*]}"
fi
case $purpose in browser | test) install_python playwright && install_axe ;; esac
case $purpose in browser | clients | replicas | tenants | test) install_python websockets ;; esac
case $purpose in browser | guides | tenants | test) install_django ;; esac
