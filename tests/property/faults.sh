#!/usr/bin/env bash
# Plants the faults of faults.txt one at a time in a copy of the sources and wants the property test to find each within 5,000 programs.
# Usage: faults.sh SCRATCH [COUNT [NAME-PATTERN]]. Last line: `N passed, N failed`.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
scratch=$1 count=${2:-5000} only=${3:-.}
passed=0 failed=0
tree=$scratch/tree
rm -rf "$tree"
mkdir -p "$tree"
(cd "$root" && git ls-files -z | xargs -0 cp --parents -t "$tree")
launcher=()
if command -v ccache >/dev/null; then launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache); fi
cmake -S "$tree" -B "$scratch/build" -G Ninja "${launcher[@]}" >/dev/null

# The faults, one file each: file, old line, new line, line before (may be empty), name.
awk -v out="$scratch/fault" '
    /^= / { n++; name = substr($0, 3); before = ""; file = ""; old = ""; new = "" }
    /^file / { file = $2 }
    /^- / { old = substr($0, 3) }
    /^\+/ { new = substr($0, 3) }
    /^after / { before = substr($0, 7) }
    n { f = sprintf("%s.%02d", out, n); printf "%s\n%s\n%s\n%s\n%s\n", file, old, new, before, name > f; close(f) }
' "$root/tests/property/faults.txt"

plant() { # FAULT-FILE: 0 if the line stood there exactly once
    local fault=$1 file old new before
    { read -r file; IFS= read -r old; IFS= read -r new; IFS= read -r before; } <"$fault"
    OLD=$old NEW=$new BEFORE=$before awk '
        BEGIN { old = ENVIRON["OLD"]; new = ENVIRON["NEW"]; before = ENVIRON["BEFORE"] }
        $0 == old && (before == "" || last == before) { hits++; print new; last = $0; next }
        { print; last = $0 }
        END { exit hits == 1 ? 0 : 1 }' "$root/$file" >"$tree/$file.new" && mv "$tree/$file.new" "$tree/$file"
}

for fault in "$scratch"/fault.*; do
    name=$(sed -n 5p "$fault") file=$(sed -n 1p "$fault")
    [[ $name =~ $only ]] || continue
    if ! plant "$fault"; then
        echo "FAIL cannot plant: $name"
        failed=$((failed + 1))
        continue
    fi
    if ! ninja -C "$scratch/build" test_property >"$scratch/ninja.log" 2>&1; then
        echo "FAIL does not build: $name"
        grep -aE 'error|internal' "$scratch/ninja.log" | head -n 3 || true
        failed=$((failed + 1))
    else
        timeout 120 "$scratch/build/test_property" --count "$count" --failures 1 >"$scratch/out" 2>&1 || true
        if grep -aq '^FAIL' "$scratch/out"; then
            echo "found: $name ($(grep -aoE 'only [0-9]+' "$scratch/out" | head -n 1))"
            passed=$((passed + 1))
        else
            echo "FAIL not found: $name"
            failed=$((failed + 1))
        fi
    fi
    cp "$root/$file" "$tree/$file"
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
