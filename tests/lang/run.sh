#!/usr/bin/env bash
# Library tests written in Beamtalk: every class and script in this folder. Usage: run.sh BEAMTALK. Last line: `N passed, N failed`.
# A program with methods named like constructs is compiled in another way: its test runs apart, with those of the constructs behind it.
here=$(dirname "$0")
status=0
passed=0
failed=0

# tests FILE...
tests() {
    local output counts
    output=$("$binary" test "$@" 2>&1) || status=1
    echo "$output"
    counts=$(echo "$output" | grep -aE '^[0-9]+ file\(s\), ' | tail -n 1 | sed -E 's/.* ([0-9]+) passed, ([0-9]+) failed.*/\1 \2/')
    counts=${counts:-0 1}
    passed=$((passed + ${counts% *}))
    failed=$((failed + ${counts#* }))
}

binary=$1
shopt -s nullglob
ordinary=()
for file in "$here"/*.bt "$here"/*.btscript; do
    [ "${file##*/}" = own_constructs_test.bt ] || ordinary+=("$file")
done
tests "${ordinary[@]}"
tests "$here/own_constructs_test.bt" "$here"/{carriers,conditions,constructs,folds,recursive_blocks}_test.bt
echo "$passed passed, $failed failed"
exit $status
