#!/usr/bin/env bash
# test-systemd.sh [--root FOLDER] [PROGRAM]
#
# Boots a Debian with systemd (systemd-nspawn) and runs the service of packaging/ there: enable, start, reload, kill
# -HUP, restart, a kill, stop. As root. FOLDER is a Debian in which the package is installed (scripts/test-dist.sh has
# one); without it one is made, with PROGRAM (.build/debug/freshet) and the libraries that it needs. Where nothing can
# be booted it says so and succeeds.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf '%s\n' "$*"; }
fail() { say "FAILED  $*" >&2; exit 1; }
skip() { say "skipped: $*"; exit 0; }

root=
if [[ ${1:-} == --root ]]; then root=$(realpath "$2"); shift 2; fi
program=${1:-.build/debug/freshet}
[[ $(id -u) == 0 ]] || skip 'booting a system needs root'
command -v systemd-nspawn >/dev/null || skip 'there is no systemd-nspawn here (apt-get install systemd-container)'

# The files of the package and of its postinst, for a program that was not built for it.
install_by_hand() {
  local library
  install -D "$program" "$root/usr/bin/freshet"
  while read -r library; do
    install -D "$library" "$root/usr/lib/freshet-needs/$(basename "$library")"
  done < <(ldd "$program" | sed -nE 's/.* => (\/[^ ]*) .*/\1/p' | grep -vE '/(libc|libm|libpthread|libdl|ld-linux-x86-64)\.so')
  echo /usr/lib/freshet-needs >"$root/etc/ld.so.conf.d/freshet-needs.conf"
  chroot "$root" ldconfig
  mkdir -p "$root/usr/share/freshet" && cp -r public "$root/usr/share/freshet/public"
  install -D -m 644 packaging/freshet.service "$root/usr/lib/systemd/system/freshet.service"
  install -D -m 644 packaging/freshet.yaml "$root/etc/freshet/freshet.yaml"
  install -D -m 644 packaging/logrotate "$root/etc/logrotate.d/freshet"
  install -D -m 755 packaging/postinst "$root/tmp/postinst"
  chroot "$root" /usr/bin/env DPKG_MAINTSCRIPT_PACKAGE=freshet /tmp/postinst configure
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [[ -z $root ]]; then
  command -v debootstrap >/dev/null || skip 'there is no debootstrap here'
  base=.build/dist/systemd.tar
  if [[ ! -f $base ]]; then
    mkdir -p .build/dist
    say 'a Debian with systemd'
    debootstrap --variant=minbase --include=adduser,curl,dbus,libwebsockets-evlib-ev,procps,sqlite3,systemd bookworm "$work/base" \
      >"$work/log" 2>&1 || { tail -n 5 "$work/log"; skip 'debootstrap cannot make a Debian here'; }
    tar -C "$work/base" -cf "$base" .
  fi
  root=$work/root
  mkdir "$root" && tar -C "$root" -xf "$base"
  install_by_hand
fi

# Runs inside, once all services are up. Its last line is the outcome.
cat >"$root/usr/local/sbin/try-freshet" <<'INSIDE'
#!/bin/bash
exec >/tried 2>&1
trap 'echo "at line $LINENO: $BASH_COMMAND"; journalctl -u freshet -n 30 --no-pager; echo failed; systemctl poweroff --no-block' ERR
set -eE
pid() { systemctl show -p MainPID --value freshet; }
active() { [[ $(systemctl is-active freshet) == active ]]; }
asks() { curl -sf --max-time 5 "http://127.0.0.1:8080/v1/snapshot?from=bank" | grep -q Almena; }

sqlite3 /var/lib/freshet/app.sqlite 'PRAGMA journal_mode = WAL; CREATE TABLE IF NOT EXISTS bank(id INTEGER PRIMARY KEY, name);
  INSERT OR REPLACE INTO bank VALUES (1, "Almena")' >/dev/null
chown -R freshet:freshet /var/lib/freshet
systemctl enable freshet
echo 'start, which returns when it serves'
systemctl start freshet
active; asks
[[ $(ps -o user= -p "$(pid)") == freshet ]]
journalctl -u freshet --no-pager | grep -q 'There are no roles'
echo 'reload, without logs and TLS'
before=$(pid)
for _ in 1 2 3; do systemctl reload freshet; done
kill -HUP "$before"
sleep 0.3
active; asks
[[ $(pid) == "$before" ]]
echo 'a reload right after each start'
for _ in 1 2 3 4 5; do
  systemctl reset-failed freshet # its count of starts
  systemctl restart freshet
  systemctl reload freshet
  sleep 0.2
  active
  asks
done
systemctl reset-failed freshet
[[ $(pid) != "$before" ]]
echo 'a reload opens its log anew'
echo 'accessLog: /var/log/freshet/access.log' >>/etc/freshet/freshet.yaml
systemctl restart freshet
asks
mv /var/log/freshet/access.log /var/log/freshet/access.log.1
systemctl reload freshet
for _ in {1..50}; do [[ -e /var/log/freshet/access.log ]] && break; sleep 0.1; done
asks
sleep 0.3
grep -q '"path":"/v1/snapshot"' /var/log/freshet/access.log
echo 'killed, it is started again'
before=$(pid)
kill -KILL "$before"
for _ in {1..100}; do asks && break; sleep 0.1; done
asks
[[ $(pid) != "$before" ]]
echo 'a role of a missing table is named before the start'
echo 'roles: { clerk: { tables: { bonk: }, queries: any } }' >>/etc/freshet/freshet.yaml
systemctl reset-failed freshet
systemctl restart freshet
journalctl -u freshet --no-pager | grep -q 'there is no table bonk'
echo 'stop'
systemctl stop freshet
[[ $(systemctl show -p Result --value freshet) == success ]]
[[ $(systemctl show -p ExecMainStatus --value freshet) == 0 ]]
echo passed
systemctl poweroff --no-block
INSIDE
chmod 755 "$root/usr/local/sbin/try-freshet"
cat >"$root/etc/systemd/system/try-freshet.service" <<'UNIT'
[Unit]
After=multi-user.target
[Service]
Type=oneshot
ExecStart=/usr/local/sbin/try-freshet
UNIT
mkdir -p "$root/etc/systemd/system/multi-user.target.wants"
ln -sf ../try-freshet.service "$root/etc/systemd/system/multi-user.target.wants/try-freshet.service"
rm -f "$root/tried"

# A network of its own, with a loopback alone.
timeout 180 systemd-nspawn --boot --register=no --keep-unit --quiet --private-network --console=pipe --directory="$root" \
  </dev/null >"$work/console" 2>&1 || true
if [[ ! -s $root/tried ]]; then
  tail -n 5 "$work/console"
  skip 'systemd does not boot in a container here'
fi
cat "$root/tried"
rm -f "$root/etc/systemd/system/multi-user.target.wants/try-freshet.service" "$root/etc/systemd/system/try-freshet.service"
[[ $(tail -n 1 "$root/tried") == passed ]] || fail 'the service does not do what it should'
