#!/usr/bin/env bash
# What the verifier costs, in instructions (callgrind), so that the figure does not depend on the machine's mood: its share of what it
# takes to bring the source of a thousand methods (the workload compile_rate) into executable form. Argument: the binary.
# The last line is `N passed, N failed`.
set -uo pipefail
beamtalk=$1
limit=35 # per mille of compile_rate; 30 is the budget, the rest is for a compiler that gets faster around the verifier
passed=0
failed=0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

check() { # NAME CONDITION
    if [ "$2" = 1 ]; then passed=$((passed + 1)); else
        failed=$((failed + 1))
        echo "FAIL $1"
    fi
}

{
    echo "Object subclass: M"
    for ((i = 0; i < 1000; i++)); do
        printf '  m%d: x =>\n    a := x + %d\n    b := a * 2\n    b > 10 ifTrue: [self m%d: b - a] ifFalse: [a + b]\n\n' \
            $i $i $(((i + 1) % 1000))
    done
} >"$scratch/rate.bt"

# instructions FUNCTION: inclusive
instructions() {
    callgrind_annotate --inclusive=yes --threshold=100 "$scratch/profile" 2>/dev/null |
        grep -E "^ *[0-9,]+ .*:$1( |\$)" | grep -v '=>' | head -n 1 | awk '{gsub(",", "", $1); print $1}'
}

if ! command -v valgrind >/dev/null; then
    echo "FAIL valgrind is missing"
    echo "0 passed, 1 failed"
    exit 1
fi
valgrind --tool=callgrind --toggle-collect=bt_vm_eval --callgrind-out-file="$scratch/profile" \
    "$beamtalk" run "$scratch/rate.bt" >"$scratch/out" 2>&1
all=$(instructions bt_vm_eval)
verify=$(instructions ir_verify)
check "the profile shows the verifier" $((${verify:-0} > 0 && ${all:-0} > 0))
if [ "${verify:-0}" -gt 0 ] && [ "${all:-0}" -gt 0 ]; then
    share=$((verify * 1000 / all))
    echo "verifier: $verify of $all instructions, $((share / 10)).$((share % 10)) %"
    check "the verifier costs at most $((limit / 10)).$((limit % 10)) % of compile_rate" $((share <= limit))
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
