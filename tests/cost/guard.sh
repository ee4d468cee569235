#!/usr/bin/env bash
# The instruction guard: what fixed workloads cost, counted (callgrind), against the recorded baseline. Fails when one takes 5 % more, and
# when one takes 5 % less, so that the next change is measured against what is there now.
# Usage: guard.sh BINARY [--record]. --record writes baseline.tsv anew (./bt test --record-costs does so with the release build).
# The last line is `N passed, N failed`.
set -uo pipefail
beamtalk=$1
# shellcheck source=tests/cost/count.sh
source "$(dirname "${BASH_SOURCE[0]}")/count.sh"
baseline=$cost_folder/baseline.tsv
passed=0
failed=0

verdict() { # NAME OK
    if [ "$2" = 1 ]; then passed=$((passed + 1)); else
        failed=$((failed + 1))
        echo "FAIL $1"
    fi
}

# measure NAME: a line of the baseline
measure() {
    local name=$1 parts
    case $name in
        startup)
            echo 'Console printLine: "hello"' >"$scratch/hello.bt"
            parts=$(counts "$beamtalk" "$scratch/hello.bt" 2>"$scratch/$name.err")
            ;;
        *)
            parts=$(counts "$beamtalk" "$cost_folder/workloads.bt" "$name" "$scratch/$name" 2>"$scratch/$name.err") &&
                parts=$(echo "$parts" | sed -n 2p)
            ;;
    esac
    if [ -n "$parts" ]; then printf '%s\t%s\n' "$name" "$parts"; else cat "$scratch/$name.err" >&2; fi
}

# judge BASELINE COUNTS: a line each, and what to do; fails if one is out of bounds, missing or new.
judge() { awk -F'\t' -f "$cost_folder/judge.awk" "$1" "$2"; }

# The judge itself: it has to notice what it is there for.
printf '# header\na\t1000\nb\t2000\n' >"$scratch/base"
judged() { # NAME WANTED-STATUS PATTERN COUNTS
    local status=0
    printf '%b' "$4" >"$scratch/counted"
    judge "$scratch/base" "$scratch/counted" >"$scratch/judged" || status=$?
    [ "$status" = "$2" ] && grep -q "$3" "$scratch/judged"
    verdict "$1" $(($? == 0))
}
judged "counts within the bounds pass" 0 '^a .*ok' 'a\t1049\nb\t1901\n'
judged "growth fails" 1 '^a .*GREW' 'a\t1051\nb\t2000\n'
judged "shrinking asks for a new baseline" 1 '^b .*shrank.*record' 'a\t1000\nb\t1890\n'
judged "a workload that was not counted fails" 1 '^b .*not counted' 'a\t1000\n'
judged "a workload without a baseline fails" 1 '^c .*no baseline' 'a\t1000\nb\t2000\nc\t1\n'

if ! command -v valgrind >/dev/null; then
    echo "FAIL valgrind is missing"
    echo "$passed passed, $((failed + 1)) failed"
    exit 1
fi
export -f measure counts
export beamtalk cost_folder scratch
printf '%s\n' sends class_variables folds regions allocation messages text_and_maps sorting compiling startup |
    xargs -P "$(nproc)" -I NAME bash -c 'measure NAME' | sort >"$scratch/counts"

if [ "${2:-}" = --record ]; then
    {
        grep '^#' "$baseline"
        cat "$scratch/counts"
    } >"$scratch/recorded"
    cp "$scratch/recorded" "$baseline"
    cat "$baseline"
    exit
fi
judge "$baseline" "$scratch/counts" | tee "$scratch/verdicts"
failed=$((failed + $(grep -c FAIL "$scratch/verdicts")))
passed=$((passed + $(grep -c ' ok$' "$scratch/verdicts")))
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
