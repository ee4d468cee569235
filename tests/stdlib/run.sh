#!/usr/bin/env bash
# The core library under hostile arguments. Usage: run.sh BEAMTALK. Last line: `N passed, N failed`.
binary=$(realpath "$1")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0
(cd "$work" && timeout 250 "$binary" run --heap-limit 200000000 "$here/hostile.bt") >"$work/out" 2>"$work/err" </dev/null || status=$?
slow=$(grep -ac '^SLOW ' "$work/out")
if [ "$status" = 0 ] && [ "$(tail -n 1 "$work/out")" = "done" ] && [ "$slow" = 0 ]; then
    echo "1 passed, 0 failed"
else
    echo "FAIL hostile arguments: exit $status, $slow slow"
    grep -a '^SLOW ' "$work/out" | sort | uniq -c
    tail -n 5 "$work/err"
    echo "0 passed, 1 failed"
    exit 1
fi
