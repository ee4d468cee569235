#!/usr/bin/env bash
# run.sh BINARY [ROUNDS]: commands whose allocations fail, one of them or all from one on. Whatever fails, the command ends in time and
# without a signal, and tells of an error or does its work. ROUNDS allocations of each command are tried (default 60), evenly spread.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
binary=$(realpath "$1")
rounds=${2:-60}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
ulimit -c 0
cc -shared -fPIC -O1 -Wall -Wextra -Werror -o fail_alloc.so "$here/fail_alloc.c" || { echo "0 passed, 1 failed"; exit 1; }
cp "$here"/*.bt .
passed=0 failed=0

# with SETTING COMMAND...: the binary with fail_alloc.so, killed after 20 seconds
with() {
    local setting=$1
    shift
    timeout -s KILL 20 env "$setting" LD_PRELOAD="$scratch/fail_alloc.so" "$binary" "$@" <input >out 2>err
}

# try COMMAND...: standard input from the file `input`
try() {
    local total step fail status
    with BT_ALLOC_COUNT=count "$@"
    total=$(cat count)
    [ -n "$total" ] || { failed=$((failed + 1)); echo "FAIL $*: allocations were not counted"; return; }
    step=$((total / rounds))
    for ((n = 1 + total % (step > 0 ? step : 1); n <= total; n += step > 0 ? step : 1)); do
        for fail in "$n" "$n+"; do
            status=0
            with BT_ALLOC_FAIL="$fail" "$@" 2>/dev/null || status=$?
            if [ $status -ge 124 ] || { [ $status != 0 ] && [ ! -s err ] && [ ! -s out ]; }; then
                failed=$((failed + 1))
                echo "FAIL $*: status $status with BT_ALLOC_FAIL=$fail"
            else
                passed=$((passed + 1))
            fi
        done
    done
}

: >input
try eval --schedulers 1 '(1 to: 3) collect: [:i | i * 2]'
try run --schedulers 1 broad.bt
try check broad.bt
try fmt-check broad.bt
try lint broad.bt
try disasm broad.bt
try test --schedulers 1 some_test.bt
try build broad.bt -o program
try bench broad.bt --rounds 2 -- --schedulers 1
printf '1 + 2\nx := 3\nObject subclass: Q\n  m => 1\n\nQ new m\nx foo\n:help\n' >input
try repl
echo "$passed passed, $failed failed"
[ $failed = 0 ]
