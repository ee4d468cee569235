# `bench`: workloads of a package, and programs that misbehave as workloads. Sourced by run.sh.
# shellcheck shell=bash disable=SC2154

tab=$(printf '\t')
mkdir -p "$work/measured/bench/helpers" "$work/measured/src/inner" "$work/bare_bench"
printf '[package]\nname = "measured"\nversion = "0.1.0"\n' >"$work/measured/beamtalk.toml"
program measured/src/measure.bt 'Object subclass: Measure
  class print: name value: v => Console printLine: name ++ $\t asString ++ "ns_per_op" ++ $\t asString ++ v ++ $\t asString ++ "ns"'
program measured/bench/counts.bt 'Measure print: "counts" value: "12.5"
Console printLine: "a remark"'
program measured/bench/whole.bt 'Console printLine: "timed from outside"'
program measured/bench/helpers/not_a_workload.bt '3 foo'
expect "the workloads of a package print their figures with tabs" 0 "^counts${tab}ns_per_op${tab}12\.5${tab}ns~whole${tab}ms${tab}[0-9.]+${tab}ms~$" 'a remark~' \
    "$work/within" measured "$binary" bench
expect "one workload by its name, from a folder below" 0 "^counts${tab}ns_per_op${tab}12\.5${tab}ns~$" 'a remark' "$work/within" measured/src/inner "$binary" bench counts
expect "a package by its path" 0 "^counts$tab.*~whole$tab" '' "$work/within" . bash -c '"$1" bench measured 2>/dev/null' - "$binary"
expect "a program by its path" 0 "^counts${tab}ns_per_op" 'a remark' "$work/within" . "$binary" bench measured/bench/counts.bt
expect "an unknown name says which there are" 1 '' "no workload 'count' in bench; there are:~  counts~  whole~$" "$work/within" measured "$binary" bench count
expect "no folder of workloads" 1 '' 'no folder bench/ here' "$work/within" bare_bench "$binary" bench
expect "a name where there is no folder" 1 '' "no workload 'fib': there is no folder bench/ here" "$work/within" bare_bench "$binary" bench fib
expect "a folder without workloads" 1 '' 'no workload in \.: write \./NAME\.bt' "$work/within" bare_bench "$binary" bench .
expect "a file that is not there" 1 '' 'file not found: gone\.bt' "$work/within" measured "$binary" bench gone.bt
expect "rounds need a number" 2 '' '--rounds needs a number' "$work/within" measured "$binary" bench --rounds none
expect "no rounds are refused" 2 '' '--rounds needs a number from 1' "$work/within" measured "$binary" bench --rounds 0
expect "an unknown option" 2 '' "unknown option '--frobnicate'" "$work/within" measured "$binary" bench --frobnicate

# Values that differ from round to round: 1, 2, 3 and so on.
mkdir -p "$work/steps/bench"
program steps/bench/step.bt 'n := (File exists: "count") ifTrue: [(File readAll: "count") unwrap asInteger + 1] ifFalse: [1]
(File writeAll: "count" contents: n printString) unwrap
Console printLine: "step" ++ $\t asString ++ "n" ++ $\t asString ++ (10 ** n) printString ++ $\t asString ++ "x"'
expect "of several rounds the median, the smallest, the largest" 0 "^step${tab}n${tab}100${tab}x${tab}10${tab}1000~$" 'round 1 of 3 done~round 2 of 3 done~round 3 of 3 done~' \
    "$work/within" steps "$binary" bench --rounds 3
rm -f "$work/steps/count"
expect "of an even number of rounds the middle" 0 "^step${tab}n${tab}55${tab}x${tab}10${tab}100~$" 'round 2 of 2' "$work/within" steps "$binary" bench step --rounds 2
rm -f "$work/steps/count"
expect "a terminal gets a table" 0 "^step +n +55 x +10 \.\. 100.?~$" '' "$work/within" steps script -qec "'$binary' bench --rounds 2 2>/dev/null" /dev/null

mkdir -p "$work/wrong/bench"
program wrong/bench/a_check.bt 'Console printLine: "before"
6 * 7 =:= 43 ifFalse: [Exception new signal: "wrong answer"]'
program wrong/bench/b_silent.bt 'x := 1'
program wrong/bench/c_exits.bt 'Program exit: 3'
program wrong/bench/d_broken.bt 'x := (1 +'
program wrong/bench/e_fine.bt 'Console printLine: "fine" ++ $\t asString ++ "n" ++ $\t asString ++ "1" ++ $\t asString ++ "x"'
program wrong/bench/f_numbers.bt 'Console printLine: "nan" ++ $\t asString ++ "n" ++ $\t asString ++ "nan" ++ $\t asString ++ "x"
Console printLine: "five" ++ $\t asString ++ "n" ++ $\t asString ++ "1" ++ $\t asString ++ "x" ++ $\t asString ++ "y"
Console printLine: "good" ++ $\t asString ++ "n" ++ $\t asString ++ "-1e3" ++ $\t asString ++ "x"'
expect "what fails is told one by one, the others run" 1 "^fine${tab}n${tab}1${tab}x~good${tab}n${tab}-1000${tab}x~$" \
    'wrong answer.*bench/a_check\.bt failed with exit status 1~.*b_silent\.bt prints nothing.*c_exits\.bt failed with exit status 3~.*d_broken\.bt failed with exit status 1~.*nan.n.nan.x~five' \
    "$work/within" wrong "$binary" bench
expect "options after -- are those of run" 1 '' 'b_silent|ran into a limit|resource' "$work/within" wrong "$binary" bench b_silent -- --schedulers 1
expect "options of run that are wrong fail the workload" 1 '' 'failed with exit status 2' "$work/within" measured "$binary" bench counts -- --schedulers none
expect "what fails once is not run again" 1 '' 'exit status 3~round 1 of 2 done~round 2 of 2 done~$' "$work/within" wrong "$binary" bench c_exits --rounds 2
