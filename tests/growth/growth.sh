#!/usr/bin/env bash
# How costs grow: every piece of work is done at three sizes, each four times the one before, and its instructions are counted
# (callgrind). Four times the size may cost 1.3 times as much where the claim is `constant`, 4.6 where it is `linear`, 5.5 where it is
# `nlogn`: the square of it over both steps, and a fifth more than it at the last step alone. (Costs grow in steps of their own: the nursery
# is outgrown, a table gets another level.) Counts, no times: the machine's mood does not matter.
# Usage: growth.sh BINARY [PROGRAM...]; GROWTH_SCALE=4 in the environment: four times the sizes.
# The last line is `N passed, N failed`.
set -uo pipefail
beamtalk=$1
shift
folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/cost/count.sh
source "$folder/../cost/count.sh"
programs="collections processes classes depth source"
[ $# = 0 ] || programs=$*

# measure PROGRAM: its lines `name<TAB>order<TAB>size<TAB>instructions`, the first of each piece a warm-up.
measure() {
    local program=$1
    counts "$beamtalk" "$folder/$program.bt" "$scratch/$program.plan" "${GROWTH_SCALE:-1}" >"$scratch/$program.counts" 2>"$scratch/$program.err" ||
        echo "FAIL $program: $(tail -n 3 "$scratch/$program.err")"
    # Every second part lies between the two readings of one piece of work.
    if [ -f "$scratch/$program.plan" ]; then
        sed -n '2~2p' "$scratch/$program.counts" | paste "$scratch/$program.plan" - | sed "/^\t/d;/\t\$/d"
    fi
}

# judge: reads those lines; one line a piece.
judge() {
    awk -F'\t' '
        BEGIN { limit["constant"] = 1.3; limit["linear"] = 4.6; limit["nlogn"] = 5.5 }
        /^FAIL/ { print; failed++; next }
        $1 != name { name = $1; n = 0; next }
        { size[++n] = $3; cost[n] = $4 }
        n == 3 {
            first = cost[2] / cost[1]; second = cost[3] / cost[2]; most = limit[$2]
            good = $2 in limit && second <= 1.2 * most && first * second <= most * most
            printf "%s %-42s %-8s %7d: %10d  x4: %5.2f  x16: %5.2f\n", good ? "ok  " : "FAIL", name, $2, size[1], cost[1], first, second
            if (good) passed++; else failed++
        }
        END { printf "%d passed, %d failed\n", passed, failed; exit failed > 0 || passed == 0 }'
}

# The judge has to notice what it is there for.
lines() { printf 'w\t%s\t1\t1\nw\t%s\t4\t1000\nw\t%s\t16\t%s\nw\t%s\t64\t%s\n' "$1" "$1" "$1" "$2" "$1" "$3"; }
for case in "linear 4000 16000 0" "linear 4000 23000 1" "linear 5000 20000 0" "linear 5500 22500 1" "nlogn 5000 25000 0" "nlogn 16000 64000 1" "constant 1010 1020 0" "constant 1000 1700 1" "constant 1400 1700 1" "other 1 1 1"; do
    read -r order second third wanted <<<"$case"
    lines "$order" "$second" "$third" | judge >/dev/null
    [ $? = "$wanted" ] || { echo "FAIL the judge of growth: $case"; echo "0 passed, 1 failed"; exit 1; }
done

if ! command -v valgrind >/dev/null; then
    echo "FAIL valgrind is missing"
    echo "0 passed, 1 failed"
    exit 1
fi
export -f measure counts
export beamtalk folder scratch
# shellcheck disable=SC2086
printf '%s\n' $programs | xargs -P "$(nproc)" -I NAME bash -c 'measure NAME >"$scratch/NAME.lines"'
# shellcheck disable=SC2086
(cd "$scratch" && cat $(printf '%s.lines ' $programs)) | judge
