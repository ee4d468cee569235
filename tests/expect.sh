# Sourced by test scripts that drive the command: $binary is set; makes $work, and counts.
# shellcheck shell=bash disable=SC2154
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0

# verdict NAME OK [FILE...]: counts; the files say what went wrong.
verdict() {
    local name=$1 ok=$2
    shift 2
    if [ "$ok" = 1 ]; then passed=$((passed + 1)); else
        failed=$((failed + 1))
        echo "FAIL $name"
        [ $# = 0 ] || head -c 800 "$@"
    fi
}

# expect NAME STATUS STDOUT-PATTERN STDERR-PATTERN COMMAND...   (extended regular expressions over the text with `~` for line ends; empty =
# must be empty)
expect() {
    local name=$1 status=$2 out=$3 err=$4 got=0 ok=1
    shift 4
    timeout 120 "$@" >"$work/out" 2>"$work/err" </dev/null || got=$?
    [ "$got" = "$status" ] || ok=0
    if [ -z "$out" ]; then [ ! -s "$work/out" ] || ok=0; else tr '\n' '~' <"$work/out" | grep -qaE -- "$out" || ok=0; fi
    if [ -z "$err" ]; then [ ! -s "$work/err" ] || ok=0; else tr '\n' '~' <"$work/err" | grep -qaE -- "$err" || ok=0; fi
    verdict "$name: exit $got (wanted $status)" $ok "$work/out" "$work/err"
}

program() { printf '%s\n' "$2" >"$work/$1"; }

finish() {
    echo "$passed passed, $failed failed"
    [ "$failed" = 0 ]
}
