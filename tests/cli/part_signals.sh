# Part of run.sh: signals end commands in an orderly way.
# shellcheck shell=bash disable=SC2154

# signalled SIGNAL COMMAND...: sends the signal once the command has printed a line; its standard input stays open.
cat >"$work/signalled" <<'END'
#!/usr/bin/env bash
signal=$1
pipes=$(mktemp -d)
shift
mkfifo "$pipes/in" "$pipes/out"
exec 3<>"$pipes/in" 4<>"$pipes/out"
"$@" <&3 >&4 &
read -r line <&4 && echo "$line"
kill -s "$signal" $!
wait $!
status=$?
while read -r -t 0.01 line <&4 || [ -n "$line" ]; do echo "$line"; done
rm -r "$pipes"
exit $status
END
signalled() { expect "SIG$1 ends $2" "$3" "$4" '' bash "$work/signalled" "$1" "$binary" "${@:5}"; }

program spins.bt 'Console printLine: "ready"
Console print: "more"
[true] whileTrue: [nil]'
program sleeps.bt 'Console printLine: "ready"
Timer sleep: 100000'
program asks.bt 'Console printLine: "ready"
Console readLine'
for signal in INT:130 TERM:143 HUP:129; do
    signalled "${signal%:*}" "a busy program" "${signal#*:}" '^ready~more~$' run "$work/spins.bt"
    signalled "${signal%:*}" "a program that waits" "${signal#*:}" '^ready~$' run "$work/sleeps.bt"
done
signalled INT "a program that reads" 130 '^ready~$' run "$work/asks.bt"
signalled INT "a seeded program" 130 '^ready~more~$' run --seed 1 "$work/spins.bt"
signalled TERM "an evaluation" 143 '^ready~$' eval 'Console printLine: "ready". Timer sleep: 100000'
