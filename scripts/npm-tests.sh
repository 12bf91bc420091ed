#!/usr/bin/env bash
# Packs the npm package, installs it into an empty project without a network, and runs Tests/WebTests/package there:
# with plain Node against .build/release/freshet, with React, with TypeScript and with a bundler. Tests then see what
# users get, not the sources. Where npm is not installed the archive is unpacked into node_modules, which is what npm
# does with it.
set -euo pipefail
cd "$(dirname "$0")/.."

root=$PWD
folder=$root/.build/npm
project=$folder/project
rm -rf "$folder"
mkdir -p "$project/package"
archive=$(node scripts/npm-package.mjs "$folder")

# Whichever way it was made, it holds the same.
diff <(node scripts/npm-package.mjs --list | LC_ALL=C sort) <(tar -tf "$archive" | sed 's,^package/,,' | LC_ALL=C sort)
bare=$(node scripts/npm-package.mjs --without-npm "$folder/without-npm")
diff <(tar -tf "$archive" | LC_ALL=C sort) <(tar -tf "$bare" | LC_ALL=C sort)

cp -r Tests/WebTests/package/. "$project/package/"
cp Tests/WebTests/fake-clock.mjs "$project/"
mkdir "$project/client"
cp Tests/WebTests/client/{fake-socket,patch-writer}.mjs "$project/client/"
echo '{ "name": "empty", "private": true, "type": "module" }' >"$project/package.json"
cd "$project"
if command -v npm >/dev/null; then
  npm install "$archive" --offline --no-audit --no-fund --silent
else
  mkdir -p node_modules/freshet
  tar -xf "$archive" -C node_modules/freshet --strip-components 1
fi
# After npm, which takes out what it does not know.
mkdir -p node_modules/@types
for name in react react-dom react-test-renderer react-is react-shallow-renderer object-assign scheduler @types/react; do
  cp -rL "/usr/share/nodejs/$name" "node_modules/$name"
done

export FRESHET_BIN=${FRESHET_BIN:-$root/.build/release/freshet} PACKAGE_ROOT=$root
mapfile -d '' files < <(find package -name '*.test.mjs' -print0 | sort -z)
exec "$root/scripts/within.sh" 180 node --test --test-reporter=spec "${files[@]}"
