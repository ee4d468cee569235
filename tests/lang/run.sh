#!/usr/bin/env bash
# Library tests written in Beamtalk: every class and script in this folder. Usage: run.sh BEAMTALK. Last line: `N passed, N failed`.
output=$("$1" test "$(dirname "$0")" 2>&1)
status=$?
echo "$output"
counts=$(echo "$output" | grep -aE '^[0-9]+ file\(s\), ' | tail -n 1 | sed -E 's/.* ([0-9]+) passed, ([0-9]+) failed.*/\1 passed, \2 failed/')
echo "${counts:-0 passed, 1 failed}"
exit $status
