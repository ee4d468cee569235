#!/usr/bin/env bash
# The live surfaces: meta commands, sessions and the workspace. Usage: run.sh BEAMTALK. Last line: `N passed, N failed`.
binary=$1
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$here/scripts/." "$work"
output=$(cd "$work" && "$binary" test ./*.btscript 2>&1)
echo "$output"
counts=$(echo "$output" | grep -aE '^[0-9]+ file\(s\), ' | tail -n 1 | sed -E 's/.* ([0-9]+) passed, ([0-9]+) failed.*/\1 \2/')
passed=${counts% *}
failed=${counts#* }
echo "${passed:-0} passed, ${failed:-1} failed"
[ "${failed:-1}" = 0 ]
