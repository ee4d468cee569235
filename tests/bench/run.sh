#!/usr/bin/env bash
# The scripts that read tables of peers: bench/chart and bench/against. The argument, a binary, is not used. Last line: `N passed, N failed`.
# shellcheck disable=SC2154
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
bench=$here/../../bench
# shellcheck source=tests/expect.sh
source "$here/../expect.sh"

# has NAME PATTERN: in the chart
has() {
    grep -qE -- "$2" "$work/chart.svg"
    verdict "chart: $1" $(($? == 0))
}
"$bench/chart" "$here/peers.tsv" >"$work/chart.svg"
verdict "chart: made" $(($? == 0))
verdict "chart: a row for each workload with a figure of ours" $(($(grep -c 'class="row"' "$work/chart.svg") == 3))
for element in g text title style; do
    verdict "chart: every $element is closed" $(($(grep -o "<$element[ >]" "$work/chart.svg" | wc -l) == $(grep -o "</$element>" "$work/chart.svg" | wc -l)))
done
has "both colour schemes" 'prefers-color-scheme: dark'
# 0.01 to 10 on 604 points from 226: a decade is 201.3.
has "a peer ten times slower stands at 0.1" '<title>lua54 ms: 400 ms, ratio 0.1</title><circle cx="427.3"'
has "a peer ten times faster stands at 10" '<title>c ms: 4 ms, ratio 10</title><rect x="826.0"'
has "a peer that is level stands at 1, its name is text" '<title>x&lt;y&amp;z klines_per_s: 500 kl/s, ratio 1</title><circle cx="628.7"'
has "where larger is better the ratio is turned round" '<title>ruby klines_per_s: 50 kl/s, ratio 0.1</title>'
has "fewer guarantees are hollow" '<g class="interpreter weak"><title>ruby ns_per_op_direct: 50 ns, ratio 2</title>'
has "ours stands at the end of the row" '>100 ns</text>'
expect "a chart without a figure of ours" 1 '' 'no workload with a figure of ours' "$bench/chart" <(grep -v bt "$here/peers.tsv")
expect "a chart of nothing" 2 '' 'usage' "$bench/chart" "$work/nothing.tsv"

# Tables in which ours is just inside and just outside of T1, against the recorded medians.
table() { # FACTOR
    grep -v '^workload' "$bench/peers_medians.tsv"
    awk -F'\t' -v by="$1" '!/^#/ && $1 != "workload" { printf "%s\t%s\tx\tbt\t%.9f\t0\t0\t7\n", $1, $2, $3 == "larger" ? $4 / by : $4 * by }' "$bench/targets.tsv"
}
table 0.999 >"$work/inside.tsv"
table 1.01 >"$work/outside.tsv"
judgements=$(awk -F'\t' '!/^#/ && $1 != "workload" { n += split($5, p, " ") } END { print n }' "$bench/targets.tsv")
expect "a run inside of T1" 0 "~$judgements pass, 0 missed, 0 peers not in this run~$" '' "$bench/against" "$work/inside.tsv"
expect "a run outside of T1" 1 "^MISS self_send_open .*~0 pass, $judgements missed" '' "$bench/against" "$work/outside.tsv"
expect "one workload missed" 1 'MISS fib_30 +ms +lua54 .*~.* pass, 6 missed' '' "$bench/against" <(sed 's/^\(fib_30.*bt\t\)[0-9.]*/\1900/' "$work/inside.tsv")
expect "a workload of ours that is not there" 1 'MISS nbody .* ours was not measured' '' "$bench/against" <(grep -v 'nbody.*bt' "$work/inside.tsv")
expect "a peer that is not there" 1 'nbody +ns_per_step +erl +not in this run.* 1 peers not in this run' '' "$bench/against" <(grep -vP 'nbody\tns_per_step\tns\terl\t' "$work/inside.tsv")
expect "no table" 2 '' 'usage' "$bench/against"

# The script that rewrites docs/performance.md, and the keys of that document.
printf 'alpha\tns_per_op\t12.345\tns\nbeta\tms\t1234.5\tms\t1\t2\n' >"$work/figures"
printf 'ok   List add:, a copy%27s linear       500:     606225  x4:  3.86  x16:  3.94\n1 passed, 0 failed\n' '' | sed 's/copy *linear/copy                          linear  /' >"$work/growth"
printf '# T\n<!-- figures -->\n| operation | grows | key | time |\n| --- | --- | --- | --- |\n| first | x | `alpha ns_per_op` | ? |\n| second | y | `beta ms` | 7 |\n<!-- end of figures -->\n| text | `alpha ns_per_op` | ? |\n<!-- growth -->\nold\n<!-- end of growth -->\n' >"$work/document"
expect "figures and growth are written into the document" 0 \
    '\| first \| x \| `alpha ns_per_op` \| 12\.3 ns \|~\| second \| y \| `beta ms` \| 1234 ms \|~<!-- end of figures -->~\| text \| `alpha ns_per_op` \| \? \|~<!-- growth -->~.*~\| List add:, a copy \| linear \| 500 \| 606225 \| 3\.86 \| 3\.94 \|~<!-- end of growth -->~$' '' \
    "$bench/refresh-docs" --from "$work/figures" "$work/growth" "$work/document"
expect "a figure that nobody measured" 1 '# T' 'no figure for beta ms' "$bench/refresh-docs" --from <(head -n 1 "$work/figures") "$work/growth" "$work/document"
expect "growth that nobody measured" 1 '# T' 'no table of growth' "$bench/refresh-docs" --from "$work/figures" /dev/null "$work/document"
missing=$(sed -nE 's/^\|.*\| `([a-z0-9_]+) ([a-z0-9_]+)` \|.*/\1 \2/p' "$here/../../docs/performance.md" | while read -r name metric; do
    [ "$name" = startup ] || { grep -rhq "\"$name\"" "$bench" && grep -rhq "$metric" "$bench" --include='*.bt' --include='*.c'; } || echo "$name $metric"
done)
echo "$missing" >"$work/missing"
verdict "every key of docs/performance.md is printed by a program" $((${#missing} == 0)) "$work/missing"
verdict "docs/performance.md has no figure that is missing" $(($(grep -c '| ? |' "$here/../../docs/performance.md") == 0))
finish
