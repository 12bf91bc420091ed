#!/usr/bin/env bash
# dist.sh [archive]
#
# Makes what is installed without a compiler, in .build/dist: an archive (tar.gz) and, unless only that is wanted, a
# Debian package and a wheel of Python, with one binary that has the Swift library inside. `freshet --version` names
# FRESHET_COMMIT, by default the commit that is checked out.
set -euo pipefail
cd "$(dirname "$0")/.."

version=$(sed -n 's/^package let freshetVersion = "\(.*\)"$/\1/p' Sources/Network/Server/FreshetVersion.swift)
architecture=$(dpkg --print-architecture)
if [[ -z ${FRESHET_COMMIT+is-set} ]]; then
  FRESHET_COMMIT=$(git rev-parse --short=9 HEAD)$(git diff --quiet HEAD || echo '+')
  export FRESHET_COMMIT
fi
build=(swift build -c release -Xswiftc -enforce-exclusivity=unchecked --static-swift-stdlib -j "$(nproc)")
"${build[@]}" --product freshet
objects=$("${build[@]}" --show-bin-path)/freshet.product/Objects.LinkFileList
dist=$PWD/.build/dist
stage=$dist/freshet-$version-linux-$architecture
rm -rf "$stage" "$dist/debian" && mkdir -p "$stage" "$dist/debian"

# The common files of both, below a prefix: the archive's is its own folder, the package's is /usr.
tree() { # prefix
  install -D "$("${build[@]}" --show-bin-path)/freshet" "$1/bin/freshet"
  strip --strip-debug "$1/bin/freshet"
  mkdir -p "$1/share/freshet" "$1/share/man/man1" "$1/share/doc/freshet/licenses" \
    "$1/share/bash-completion/completions" "$1/share/zsh/vendor-completions" "$1/share/fish/vendor_completions.d"
  cp -r public "$1/share/freshet/public"
  "$1/bin/freshet" --generate-completion-script bash >"$1/share/bash-completion/completions/freshet"
  "$1/bin/freshet" --generate-completion-script zsh >"$1/share/zsh/vendor-completions/_freshet"
  "$1/bin/freshet" --generate-completion-script fish >"$1/share/fish/vendor_completions.d/freshet.fish"
  packaging/manual.py "$1/bin/freshet" "$version" | gzip -9n >"$1/share/man/man1/freshet.1.gz"
  cp README.md CHANGELOG.md SECURITY.md "$1/share/doc/freshet/"
  cp -r docs "$1/share/doc/freshet/docs"
  mkdir "$1/share/doc/freshet/examples"
  cp -r examples/monitoring "$1/share/doc/freshet/examples/"
  cp LICENSE "$1/share/doc/freshet/copyright"
  licenses "$1/share/doc/freshet/licenses"
  chmod -R u=rwX,go=rX "$1"
}

# Whether a module of a package was linked. Modules that only libraries and tests use are not.
linked() { # checkout
  local module
  for module in "$1"*/ "$1"Sources/*/; do
    if grep -qF "/$(basename "$module").build/" "$objects"; then return; fi
  done
  return 1
}

# The licences of everything that is in the binary.
licenses() { # folder
  local package file
  for package in .build/checkouts/*/; do
    linked "$package" || continue
    for file in "$package"LICENSE* "$package"NOTICE*; do
      [[ -f $file ]] && cp "$file" "$1/$(basename "$package")-$(basename "$file")"
    done
  done
  file=$(dirname "$(dirname "$(readlink -f "$(command -v swift)")")")/share/swift/LICENSE.txt
  [[ -f $file ]] && cp "$file" "$1/swift-LICENSE.txt"
  return 0
}

tree "$stage"
tar -C "$dist" --owner=0 --group=0 --sort=name -czf "$stage.tar.gz" "$(basename "$stage")"

if [[ ${1:-} == archive ]]; then
  ls -lh "$stage.tar.gz"
  exit
fi

root=$dist/debian/root
tree "$root/usr"
install -D -m 644 packaging/freshet.service "$root/usr/lib/systemd/system/freshet.service"
install -D -m 644 packaging/freshet.yaml "$root/etc/freshet/freshet.yaml"
install -D -m 644 packaging/logrotate "$root/etc/logrotate.d/freshet"
install -d "$root/DEBIAN"
install -m 755 packaging/postinst packaging/prerm packaging/postrm "$root/DEBIAN/"
printf '%s\n' /etc/freshet/freshet.yaml /etc/logrotate.d/freshet >"$root/DEBIAN/conffiles"
# The libraries that the binary names, by Debian's own list of who has them. Only the control file's being there counts.
mkdir "$dist/debian/debian" && touch "$dist/debian/debian/control"
depends=$(cd "$dist/debian" && dpkg-shlibdeps -O root/usr/bin/freshet 2>/dev/null | sed -n 's/^shlibs:Depends=//p')
cat >"$root/DEBIAN/control" <<END
Package: freshet
Version: $version
Architecture: $architecture
Maintainer: The Freshet developers <freshet@localhost>
Section: database
Priority: optional
Depends: $depends, libwebsockets-evlib-ev, adduser, procps
Installed-Size: $(du -sk "$root/usr" | cut -f 1)
Description: live, sectioned lists from any SQLite file
 Serves sorted, sectioned queries of an SQLite file over WebSocket and HTTP, and sends
 patches of index paths the moment the file changes, whoever changed it.
END
dpkg-deb --root-owner-group --build "$root" "$dist/freshet_${version}_$architecture.deb" >/dev/null
ls -lh "$stage.tar.gz" "$dist"/*.deb

# The wheel's part: the files that pages need, and the licenses.
bundle=$dist/bundle
rm -rf "$bundle" && mkdir -p "$bundle/share/freshet"
cp -r "$stage/bin" "$bundle/"
strip "$bundle/bin/freshet"
cp -r "$stage/share/freshet/public" "$bundle/share/freshet/"
cp -r "$stage/share/doc/freshet/licenses" "$bundle/share/freshet/"
scripts/wheel.sh "$bundle"
