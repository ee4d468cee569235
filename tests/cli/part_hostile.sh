# Part of run.sh: sources that nobody writes. Each one runs or is refused with a clear error, in bounded time and memory.
# shellcheck shell=bash disable=SC2154

# lines COUNT: classes of ordinary code.
lines() {
    awk -v count="$1" 'BEGIN {
        for (n = 0; n < count;) {
            printf "Object subclass: Gen%d\n  classState: total = 0\n", class++; n += 2
            for (m = 0; m < 12; m++) {
                printf "  step%d: x with: y =>\n    a := x + %d. b := y * 2\n    a > b ifTrue: [a := a - 1] ifFalse: [b := b + a]\n", m, m
                printf "    #(1, 2, 3) do: [:e | a := a + e]\n    self step%d: a with: (b max: 3)\n    \"result {a} and {b}\" size + a\n\n", (m + 1) % 12
                n += 7
            }
        } }'
}
# repeat COUNT TEXT
repeat() { awk -v count="$1" -v text="$2" 'BEGIN { for (; count; count--) printf "%s", text }'; }
# hostile NAME PATTERN: standard input is the source; an error that matches, at most 40 lines of it unless it says so.
hostile() {
    cat >"$work/hostile.bt"
    expect "hostile: $1" 1 '' "$2" bash -c 'ulimit -v "$3"; exec timeout 30 "$1" check "$2"' - "$binary" "$work/hostile.bt" "$limit"
}
# Kibibytes of address space; a sanitizer needs more than a limit would leave it.
limit=4000000
bash -c "ulimit -v $limit && exec \"\$1\" --version" - "$binary" >/dev/null 2>&1 || limit=unlimited

# 20 errors planted in many lines: each is reported, and reported once.
lines 20000 | awk 'NR % 1000 == 500 { planted = 1 } planted && /with: \(b max/ { sub(/\(b max: 3\)/, "planted" ++count); planted = 0 } { print }' >"$work/planted.bt"
expect "planted errors" 0 '^20~20~20~$' '' bash -c '"$1" check "$2" 2>"$2.err"; grep -c "^error: Undefined variable: planted[0-9]*$" "$2.err"; grep "^error" "$2.err" | sort -u | wc -l; grep -c "^  --> .*planted.bt:[0-9]*:[0-9]*$" "$2.err"' - "$binary" "$work/planted.bt"
lines 20000 >"$work/many.bt"
expect "many lines" 0 '' '' "$binary" check "$work/many.bt"

hostile "brackets" 'nesting is too deep \(maximum 64 levels\)' < <(repeat 100000 '[')
hostile "closed parentheses" 'nesting is too deep' < <(repeat 100000 '('; echo 1; repeat 100000 ')')
hostile "lists" 'nesting is too deep' < <(repeat 100000 '#(')
hostile "maps" 'nesting is too deep' < <(repeat 100000 '#{#a=>')
hostile "interpolations" 'interpolation is nested too deeply' < <(repeat 100000 '"{')
hostile "assignments" 'nesting is too deep' < <(repeat 100000 'a := ')
hostile "matches" 'nesting is too deep' < <(repeat 100000 'x match: [1 -> ')
hostile "types" 'nesting is too deep' < <(echo 'x :: '; repeat 100000 'A(')
hostile "a long sum" 'Expression is too large' < <(printf 'x := 1'; repeat 100000 ' + 1')
hostile "a long chain" 'Expression is too large' < <(printf 'x := 1'; repeat 100000 ' foo')
hostile "parameters of a block" 'Too many parameters: there are 300, and at most 255 can be' < <(printf 'x := ['; repeat 300 ':a '; echo '| 1]')
hostile "parameters of a method" 'Too many parameters' < <(printf 'Object subclass: A\n  '; repeat 300 'a: x '; echo '=> 1')
hostile "arguments" 'a message has more than 255 arguments' < <(printf '3 '; repeat 300 'a: 1 ')
hostile "fields" 'Too many fields' < <(echo 'Value subclass: A'; awk 'BEGIN { for (i = 0; i < 10001; i++) print "  field: x" i " = 1" }')
hostile "variables of a block" 'Too many variables in a block' < <(awk 'BEGIN { for (i = 0; i < 10001; i++) print "x" i " := 1" }'; printf 'f := ['; awk 'BEGIN { for (i = 0; i < 10001; i++) printf "x%d. ", i }'; echo 'nil]')
hostile "elements" 'a literal has too many elements' < <(printf 'x := #('; repeat 100000 '1, '; echo '1)')
hostile "NUL bytes" 'hostile.bt:1:7' < <(printf 'x := 1\0\0 foo\n')
hostile "invalid UTF-8" 'not valid UTF-8 \(byte 0xff at offset 6\)' < <(printf 'x := "\xff\xfe"\n')
hostile "a line of a megabyte" 'Undefined variable: a' < <(printf 'x := '; repeat 70000 'a foo: 1 bar: '; echo 2)
hostile "errors" 'more' < <(repeat 100000 '] ')
hostile "comments" 'expected expression' < <(repeat 100000 '/*')
hostile "seventeen megabytes" 'Error: .*hostile.bt is too large for a source file \(at most 16 MiB\)' < <(repeat 17000000 ' ')
expect "endless file" 1 '' 'too large for a source file' "$binary" check /dev/zero
{ printf 'x := "'; repeat 1000000 'y'; echo '" size. Console printLine: x'; } >"$work/long.bt"
expect "a string of a megabyte" 0 '^1000000~$' '' "$binary" run "$work/long.bt"
printf '\xef\xbb\xbfConsole printLine: "marked"\n' >"$work/mark.bt"
expect "byte order mark" 0 '^marked~$' '' "$binary" run "$work/mark.bt"
