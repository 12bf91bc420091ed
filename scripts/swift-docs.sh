#!/usr/bin/env bash
# Builds the documentation of the Swift libraries, .build/docs/NAME.doccarchive, of the modules of the debug build. A
# warning, such as an undocumented parameter or a broken link, is an error.
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
  # The documentation includes what a module re-exports from others, because programs import only one module.
  swift symbolgraph-extract -module-name "$module" "${flags[@]}" -output-dir "$graph" -minimum-access-level public \
    -skip-inherited-docs -skip-synthesized-members \
    -experimental-allowed-reexported-modules=FreshetRemote,FreshetResults,LiveQuery,WebSocketClient
  log=.build/docs/$module.log
  docc convert "Sources/Libraries/$module/$module.docc" --additional-symbol-graph-dir "$graph" \
    --output-dir ".build/docs/$module.doccarchive" --fallback-display-name "$module" \
    --fallback-bundle-identifier "$module" --analyze --warnings-as-errors >"$log" 2>&1 ||
    # Suggestions of the compiler are notes, not errors.
    { grep -A8 '^error' "$log"; exit 1; }
  echo ".build/docs/$module.doccarchive"
done
