#!/usr/bin/env bash
# How lowering changed: the IR and the bytecode that two builds make of the same sources, file by file and function by function.
#
#   ir_diff.sh OLD-BUILD NEW-BUILD [FILE.bt...]     folders with `beamtalk` and `stdlib_image`; without files: library, tests, examples
#
# Prints a diff for everything that changed, and last a table: functions, lines of IR and instructions of each group before and after.
# Sources that neither build compiles are left out. `./bt ir-diff COMMIT` builds the commit and calls this.
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
old=$(cd "$1" && pwd)
new=$(cd "$2" && pwd)
shift 2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/old" "$scratch/new"

# forms BUILD OUT FILE: OUT.ir and OUT.code; what cannot be compiled gives its diagnostics.
forms() {
    timeout 60 "$1/beamtalk" ir "$3" >"$2.ir" 2>"$2.err" || cp "$2.err" "$2.ir"
    timeout 60 "$1/beamtalk" disasm "$3" >"$2.code" 2>/dev/null || : >"$2.code"
    rm -f "$2.err"
}

# The library is one unit, and compiled by a tool of its own.
library() { # BUILD OUT; in the scratch folder, where a tool that does not know the option may write what it takes for its output
    (cd "$scratch" && "$1/stdlib_image" --ir "$root"/stdlib/*.bt >"$2.ir" 2>/dev/null) || : >"$2.ir"
    (cd "$scratch" && "$1/stdlib_image" --disasm "$root"/stdlib/*.bt >"$2.code" 2>/dev/null) || : >"$2.code"
}

if [ $# -gt 0 ]; then
    sources=("$@")
else
    mapfile -t sources < <(cd "$root" && git ls-files 'tests/*.bt' 'examples/*.bt' 'bench/*.bt')
    library "$old" "$scratch/old/library"
    library "$new" "$scratch/new/library"
    [ -s "$scratch/old/library.ir" ] || echo "the older build cannot print the library: left out"
fi
for source in "${sources[@]}"; do
    name=${source//\//%}
    path=$source
    [ -f "$path" ] || path=$root/$source
    forms "$old" "$scratch/old/$name" "$path"
    forms "$new" "$scratch/new/$name" "$path"
done

# Differences, each under the function that it stands in.
changed=0
for after in "$scratch"/new/*; do
    file=$(basename "$after")
    before=$scratch/old/$file
    [ "$file" != "${file#library}" ] && [ ! -s "$scratch/old/library.ir" ] && continue
    cmp -s "$before" "$after" && continue
    changed=$((changed + 1))
    diff -U 2 --show-function-line='^fn' --label "before ${file//%//}" --label "after ${file//%//}" "$before" "$after"
done

count() { # PATTERN FILES: lines that match
    cat "${@:2}" 2>/dev/null | grep -cE "$1"
}
row() { # LABEL GLOB
    # shellcheck disable=SC2086
    printf '%-10s %9d %9d %9d %9d %9d %9d\n' "$1" \
        "$(count '^fn ' "$scratch"/old/$2.ir)" "$(count '^fn ' "$scratch"/new/$2.ir)" \
        "$(count '^ +[^; ]' "$scratch"/old/$2.ir)" "$(count '^ +[^; ]' "$scratch"/new/$2.ir)" \
        "$(count '^ +[0-9]+ ' "$scratch"/old/$2.code)" "$(count '^ +[0-9]+ ' "$scratch"/new/$2.code)"
}
echo
printf '%-10s %9s %9s %9s %9s %9s %9s\n' '' functions after 'IR lines' after code after
if [ $# -gt 0 ]; then row given '*'; else
    row library library
    row tests 'tests%*'
    row examples 'examples%*'
    row bench 'bench%*'
fi
echo "$changed of $(ls "$scratch/new" | wc -l) texts changed"
