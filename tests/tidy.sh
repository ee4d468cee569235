#!/usr/bin/env bash
# tidy.sh BUILD: clang-tidy over all sources, by the compile commands of a build folder. Last line: `N passed, N failed`.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$1
cd "$root"
cmake -S . -B "$build" -DCMAKE_EXPORT_COMPILE_COMMANDS=ON >/dev/null
passed=0 failed=0
while read -r status file; do
    if [ "$status" = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAIL $file"; fi
done < <(git ls-files 'compiler/*.c' 'ir/*.c' 'vm/*.c' 'stdlib/*.c' | xargs -P "$(nproc)" -I{} bash -c 'clang-tidy -p "$0" --quiet "$1" >"$0/tidy.$$" 2>/dev/null && echo "0 $1" || { cat "$0/tidy.$$" >&2; echo "1 $1"; }; rm -f "$0/tidy.$$"' "$build" {})
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
