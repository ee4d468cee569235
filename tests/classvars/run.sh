#!/usr/bin/env bash
# Class variables and class processes. Usage: run.sh BEAMTALK [KILLS [PART]]: so many kills of class processes (300), every PART-th cell
# of the matrix (1). Last line: `N passed, N failed`.
binary=$(realpath "$1")
kills=${2:-300}
part=${3:-1}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0

count() { # NAME PASSED FAILED
    passed=$((passed + $2))
    failed=$((failed + $3))
    [ "$3" = 0 ] || echo "FAIL $1: $3"
}
same() { # NAME WANTED GOT
    if diff "$2" "$3" >"$work/diff"; then count "$1" 1 0; else
        count "$1" 0 1
        head -n 20 "$work/diff"
    fi
}

# Tests written in Beamtalk.
for file in "$here"/*_test.bt; do
    output=$(cd "$work" && timeout 120 "$binary" test "$file" 2>"$work/err")
    counts=$(cat "$work/err" <(echo "$output") | grep -aE '^[0-9]+ file\(s\), ' | tail -n 1 | sed -nE 's/.* ([0-9]+) passed, ([0-9]+) failed.*/\1 \2/p')
    # shellcheck disable=SC2086
    count "$(basename "$file")" ${counts:-0 1}
    case $counts in *" 0") ;; *) grep -aE '^FAIL|Sanitizer' "$work/err" ;; esac
done

# The matrix.
cp "$here/helpers.bt" "$work/program.bt"
awk -v PART="$part" -v PROGRAM="$work/cells.bt" -v WANTED="$work/wanted" -f "$here/matrix.awk" "$here/sites.txt"
cat "$work/cells.bt" >>"$work/program.bt"
timeout 600 "$binary" run "$work/program.bt" >"$work/got" 2>"$work/err"
cells=$(wc -l <"$work/wanted")
wrong=$(diff "$work/wanted" "$work/got" | grep -c '^<')
count "matrix" $((cells - wrong)) "$wrong"
diff "$work/wanted" "$work/got" | head -n 20
[ "$wrong" = 0 ] || grep -aE '^error|Sanitizer' "$work/err" | head -n 5

# The lint, on every surface: the marked lines and no other.
grep -n ' // lint$' "$here/lint.bt" | cut -d: -f1 >"$work/lines"
printf '%s\n' 'TestCase subclass: LintTest' '  testIt => self assert: true' | cat "$here/lint.bt" - >"$work/lint_test.bt"
printf '%s\n' '// @load lint.bt' 'LintHome name' '// => LintHome' >"$work/lint.btscript"
cp "$here/lint.bt" "$work/lint.bt"
warned() { # FILE-PATTERN: lines of class_state_abroad warnings and stale @expect
    grep -aA1 -E '^warning: (outside an invocation of|this block writes class variables|stale @expect)' | sed -nE "s/.*($1):([0-9]+):.*/\2/p" | sort -nu
}
(cd "$work" && "$binary" check lint.bt 2>&1) | warned 'lint.bt' >"$work/found"
same "lint of check" "$work/lines" "$work/found"
(cd "$work" && "$binary" run lint.bt 2>&1) | warned 'lint.bt' >"$work/found"
same "lint of run" "$work/lines" "$work/found"
(cd "$work" && "$binary" test lint_test.bt 2>&1) | warned 'lint_test.bt' >"$work/found"
same "lint of test" "$work/lines" "$work/found"
(cd "$work" && "$binary" test lint.btscript 2>&1) | warned 'lint.bt' >"$work/found"
same "lint of a script's load" "$work/lines" "$work/found"
(cd "$work" && printf ':load lint.bt\n' | "$binary" repl --no-color 2>&1) | warned 'lint.bt' >"$work/found"
same "lint of a session's load" "$work/lines" "$work/found"
# What is typed in has no lines to name: as many warnings.
"$binary" eval "$(cat "$here/lint.bt")" 2>&1 | grep -acE 'warning: (outside an invocation|this block writes|stale @expect)' >"$work/found"
wc -l <"$work/lines" | same "lint of eval" - "$work/found"

# Time limits.
"$binary" run --seed 1 "$here/limits.bt" >"$work/got" 2>"$work/err"
same "limits" - "$work/got" <<'EOF'
#(#timeout, #Slow, #sleep:, 60000)
The class did not answer within the time limit. It goes on with the method, and drops the late answer
#(1, 70000)
#ran
#timeout
2
EOF

# Kills, in threads and in seeded schedules.
for seed in "" 1 2; do
    timeout 900 "$binary" run ${seed:+--seed "$seed"} "$here/kill.bt" "$kills" >"$work/out" 2>"$work/err"
    if [ $? = 0 ] && grep -qE "^$kills [0-9]+$" "$work/out"; then count "kills" 1 0; else
        count "kills ${seed:+under seed $seed}" 0 1
        tail -n 3 "$work/out"
        grep -av 'had ended and was started again' "$work/err" | tail -n 5
    fi
done

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
