#!/usr/bin/env bash
# The live surfaces: meta commands, sessions and the workspace. Each folder here is a working directory for the scripts in it.
# Usage: run.sh BEAMTALK. Last line: `N passed, N failed`.
binary=$1
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0
for folder in scripts project; do
    cp -r "$here/$folder" "$work"
    output=$(cd "$work/$folder" && "$binary" test ./*.btscript 2>&1)
    echo "$output"
    counts=$(echo "$output" | grep -aE '^[0-9]+ file\(s\), ' | tail -n 1 | sed -E 's/.* ([0-9]+) passed, ([0-9]+) failed.*/\1 \2/')
    passed=$((passed + ${counts% *}))
    failed=$((failed + ${counts#* }))
    [ -n "$counts" ] || failed=$((failed + 1))
done

# Sessions: inputs, and behind each what it prints. Warnings are counted.
# session FILE WARNINGS
session() {
    sed 's,^// =>.*,,' "$here/$1" | "$binary" repl >"$work/printed" 2>"$work/errors"
    if sed -n 's,^// => ,,p' "$here/$1" | diff - "$work/printed" && [ "$(grep -c '^warning: ' "$work/errors")" = "$2" ] &&
        ! grep -v '^warning: ' "$work/errors"; then passed=$((passed + 1)); else
        failed=$((failed + 1))
        echo "FAIL $1"
        cat "$work/errors"
    fi
}
session reload.session 2
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
