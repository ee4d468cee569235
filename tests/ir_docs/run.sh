#!/usr/bin/env bash
# The worked examples of docs/threaded-ir.md: every block of source, compiled, must give the block of IR that follows it.
#   run.sh BINARY            compares
#   run.sh BINARY --write    writes the IR into the document
# The last line is `N passed, N failed`.
set -uo pipefail
beamtalk=$1
document=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/docs/threaded-ir.md
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# What the document should be: the blocks of IR made anew.
awk -v scratch="$scratch" -v beamtalk="$beamtalk" '
    /^```beamtalk$/ { source = scratch "/example.bt"; printf "" > source; print; inside = 1; next }
    /^```ir$/ { print; close(source); system(beamtalk " ir " source); skip = 1; next }
    /^```$/ { inside = 0; skip = 0 }
    inside { print > source }
    !skip { print }
' "$document" | sed '/^$/N;/^\n```$/{s/^\n//}' >"$scratch/document"
if [ "${2:-}" = --write ]; then
    cp "$scratch/document" "$document"
    exit
fi
examples=$(grep -c '^```ir$' "$document")
if [ "$examples" -ge 3 ] && diff -u "$document" "$scratch/document"; then
    echo "$examples passed, 0 failed"
else
    echo "FAIL docs/threaded-ir.md: its examples are not what the compiler makes (run.sh BINARY --write)"
    echo "0 passed, 1 failed"
    exit 1
fi
