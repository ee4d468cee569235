#!/usr/bin/env bash
# What `./bt ir-diff` shows of two builds: nothing if they are one, and a change of lowering if there is one. Argument: the binary.
# The last line is `N passed, N failed`.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$(cd "$(dirname "$1")" && pwd)
passed=0
failed=0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
is() { # NAME TEXT PATTERN
    if grep -qE "$3" <<<"$2"; then passed=$((passed + 1)); else
        failed=$((failed + 1))
        echo "FAIL $1: $3"
        tail -n 20 <<<"$2"
    fi
}
printf 'Object subclass: A\n  class m: x => x + 1\n  class n => 7\n' >"$scratch/a.bt"
printf 'Object subclass: B\n  class m: x => ^\n' >"$scratch/b.bt"

same=$("$here/ir_diff.sh" "$build" "$build" "$scratch/a.bt" "$scratch/b.bt")
is "one build with itself" "$same" '^0 of 4 texts changed$'
is "functions and instructions are counted" "$same" '^given +2 +2 +[1-9][0-9]* +[1-9][0-9]* +[1-9][0-9]* +[1-9]'

# A compiler that subtracts where it should add.
mkdir "$scratch/other"
printf '#!/usr/bin/env bash\nset -o pipefail\n%q "$@" | sed "s/ = ADD/ = SUB/; s/ADDI/SUBI/"\n' "$build/beamtalk" >"$scratch/other/beamtalk"
chmod +x "$scratch/other/beamtalk"
other=$("$here/ir_diff.sh" "$build" "$scratch/other" "$scratch/a.bt" "$scratch/b.bt")
is "another build" "$other" '^2 of 4 texts changed$'
is "the IR that changed" "$other" '^\+ +t0 = SUB x@0 1$'
is "under its function" "$other" '^@@ .* fn "m:" in "A"'
is "the bytecode that changed" "$other" '^\+ .*SUBI'

# What `ir` prints for a reader, `verify` reads back and accepts.
root=$here/../..
for source in "$root"/tests/mutation/*.bt "$root"/examples/*.bt; do
    "$build/beamtalk" ir "$source" >"$scratch/unit.ir" 2>/dev/null
    is "$(basename "$source") as text" "$("$build/beamtalk" verify "$scratch/unit.ir" 2>&1)" 'unit.ir: verified$'
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
