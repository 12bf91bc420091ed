#!/usr/bin/env bash
# Builds the documentation of the Swift libraries, .build/docs/NAME.doccarchive, of the modules of the debug build. A
# warning is an error: a parameter without a word, or a link to what is not there.
set -euo pipefail
cd "$(dirname "$0")/.."

debug=$(readlink -f .build/debug)
flags=(-I "$debug/Modules" -target "$(swift -print-target-info | sed -n 's/.*"unversionedTriple": "\(.*\)".*/\1/p')")
# C modules are found by their maps.
while read -r map; do flags+=(-Xcc "-fmodule-map-file=$map"); done < <(
  find Sources .build/checkouts/*/Sources -name module.modulemap
  find "$debug"/*.build -maxdepth 1 -name module.modulemap)

for module in Freshet FreshetClient; do
  graph=.build/docs/$module.graph
  rm -rf "$graph" && mkdir -p "$graph"
  # With what a module exports of others: programs import one.
  swift symbolgraph-extract -module-name "$module" "${flags[@]}" -output-dir "$graph" -minimum-access-level public \
    -skip-inherited-docs -skip-synthesized-members \
    -experimental-allowed-reexported-modules=FreshetRemote,FreshetResults,LiveQuery,WebSocketClient
  log=.build/docs/$module.log
  docc convert "Sources/Libraries/$module/$module.docc" --additional-symbol-graph-dir "$graph" \
    --output-dir ".build/docs/$module.doccarchive" --fallback-display-name "$module" \
    --fallback-bundle-identifier "$module" --analyze --warnings-as-errors >"$log" 2>&1 ||
    # Its suggestions are notes.
    { grep -A8 '^error' "$log"; exit 1; }
  echo ".build/docs/$module.doccarchive"
done
