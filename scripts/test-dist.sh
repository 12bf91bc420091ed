#!/usr/bin/env bash
# Installs what `make dist` made into a clean Debian and tries it there. As root, for debootstrap and chroot.
set -euo pipefail
cd "$(dirname "$0")/.."
dist=$PWD/.build/dist
root=$dist/clean
package=$(ls "$dist"/*.deb)
archive=$(ls "$dist"/freshet-*-linux-*.tar.gz)

say() { printf '=== %s\n' "$*"; }
inside() { chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }
ended() {
  [[ -n ${server:-} ]] && kill "$server" 2>/dev/null
  umount "$root/proc" 2>/dev/null || true
}
trap ended EXIT

say 'a clean Debian'
if [[ ! -f $dist/clean.tar ]]; then
  rm -rf "$root"
  debootstrap --variant=minbase bookworm "$root" >"$dist/debootstrap.log"
  tar -C "$root" -cf "$dist/clean.tar" .
fi
rm -rf "$root" && mkdir "$root" && tar -C "$root" -xf "$dist/clean.tar"
cp -rT /etc/apt "$root/etc/apt" && cp /etc/resolv.conf "$root/etc/resolv.conf"
for file in /etc/ssl/certs /usr/local/share/ca-certificates; do
  if [[ -d $file ]]; then mkdir -p "$root$file" && cp -rLT "$file" "$root$file" 2>/dev/null || true; fi
done
mount -t proc proc "$root/proc"
inside apt-get update -qq

wheel=$(ls "$dist"/freshet-*-manylinux*.whl 2>/dev/null || true)
if [[ -n $wheel ]]; then
  say 'the command of the wheel runs before anything that it needs is installed'
  mkdir "$root/opt/wheel" && python3 -m zipfile -e "$wheel" "$root/opt/wheel"
  chmod +x "$root/opt/wheel/freshet/bin/freshet"
  inside /opt/wheel/freshet/bin/freshet --version
  inside rm -r /opt/wheel
fi

say 'the package is installed'
cp "$package" "$root/tmp/freshet.deb"
inside apt-get install -y -qq --no-install-recommends /tmp/freshet.deb systemd curl sqlite3 man-db >"$dist/install.log" 2>&1 ||
  { tail -n 20 "$dist/install.log"; exit 1; }
inside freshet --version
inside id freshet
inside systemd-analyze verify /usr/lib/systemd/system/freshet.service
[[ $(inside man freshet) == *'freshet serve'* ]]
[[ $(inside sh -c 'ls /usr/share/doc/freshet/licenses | wc -l') -gt 5 ]]
inside bash -n /usr/share/bash-completion/completions/freshet

say 'it serves its database, as its own user'
inside sqlite3 /var/lib/freshet/app.sqlite 'PRAGMA journal_mode = WAL; CREATE TABLE bank(id INTEGER PRIMARY KEY, name); INSERT INTO bank VALUES (1, "Almena")'
inside freshet check /etc/freshet/freshet.yaml
inside chown -R freshet:freshet /var/lib/freshet
chroot --userspec=freshet:freshet "$root" /usr/bin/freshet serve --config /etc/freshet/freshet.yaml --port 18080 &
server=$!
for _ in {1..50}; do curl -sf http://127.0.0.1:18080/readyz >/dev/null && break || sleep 0.1; done
[[ $(curl -sf 'http://127.0.0.1:18080/v1/snapshot?from=bank') == *Almena* ]]
[[ $(curl -sf http://127.0.0.1:18080/) == *'<title>'* ]]
kill "$server" && wait "$server"
unset server

say 'the service runs under systemd'
umount "$root/proc"
scripts/test-systemd.sh --root "$root"
mount -t proc proc "$root/proc"

say 'it is removed, and what is the user'\''s stays'
inside apt-get purge -y -qq freshet >"$dist/purge.log" 2>&1
[[ ! -e $root/usr/bin/freshet && ! -e $root/etc/freshet/freshet.yaml && -e $root/var/lib/freshet/app.sqlite ]]

say 'the archive works where it is unpacked'
tar -C "$root/opt" -xzf "$archive"
inside sh -c '/opt/freshet-*/bin/freshet --version && /opt/freshet-*/bin/freshet explain /var/lib/freshet/app.sqlite bank >/tmp/explained' && inside grep incremental /tmp/explained
say passed
