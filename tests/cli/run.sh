#!/usr/bin/env bash
# Drives the beamtalk command as a person would. Usage: run.sh BINARY. Last line: `N passed, N failed`.
binary=$1
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0

# expect NAME STATUS STDOUT-PATTERN STDERR-PATTERN COMMAND...   (extended regular expressions; empty = must be empty)
expect() {
    local name=$1 status=$2 out=$3 err=$4 got=0 ok=1
    shift 4
    timeout 120 "$@" >"$work/out" 2>"$work/err" </dev/null || got=$?
    [ "$got" = "$status" ] || ok=0
    if [ -z "$out" ]; then [ ! -s "$work/out" ] || ok=0; else tr '\n' '~' <"$work/out" | grep -qaE -- "$out" || ok=0; fi
    if [ -z "$err" ]; then [ ! -s "$work/err" ] || ok=0; else tr '\n' '~' <"$work/err" | grep -qaE -- "$err" || ok=0; fi
    if [ $ok = 1 ]; then passed=$((passed + 1)); else
        failed=$((failed + 1))
        echo "FAIL $name: exit $got (wanted $status)"
        head -c 600 "$work/out" "$work/err"
    fi
}

program() { printf '%s\n' "$2" >"$work/$1"; }
printf '#!/bin/sh\ncd "%s/$1" && shift && exec "$@"\n' "$work" >"$work/within" # within DIRECTORY COMMAND...
chmod +x "$work/within"

# The tour prints what its comments say.
sed -nE 's/^[^/]*Console printLine: .* \/\/ (.*)$/\1/p' "$root/examples/tour.bt" | sed 's/^work, then tidy$/work\ntidy/' >"$work/tour.expected"
"$binary" run "$root/examples/tour.bt" >"$work/tour.out" 2>"$work/tour.err"
if diff "$work/tour.expected" "$work/tour.out" && [ ! -s "$work/tour.err" ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAIL tour"; cat "$work/tour.err"; fi

expect "version" 0 '^beamtalk [0-9]' '' "$binary" --version
expect "no command" 2 '' 'usage' "$binary"
expect "unknown command" 2 '' "unknown command 'frobnicate'" "$binary" frobnicate
program hello.bt 'Transcript show: "Hello"; cr'
expect "hello" 0 '^Hello~$' '' "$binary" run "$work/hello.bt"
program broken.bt 'x := (1 + 
Console printLine: "never"'
expect "syntax error runs nothing" 1 '' 'error: .*broken\.bt:[0-9]+:[0-9]+' "$binary" run "$work/broken.bt"
expect "missing file" 1 '' 'Error: file not found: .*nothing\.bt' "$binary" run "$work/nothing.bt"
expect "directory" 1 '' 'is a directory' "$binary" run "$work/"
: >"$work/empty.bt"
expect "empty file" 0 '' '' "$binary" run "$work/empty.bt"
head -c 4096 "$binary" >"$work/binary.bt"
expect "binary file" 1 '' 'error:' "$binary" run "$work/binary.bt"
program entry.bt 'Object subclass: Entry
  class run => Console printLine: "ran"'
expect "class-side run" 0 '^ran~$' '' "$binary" run "$work/entry.bt"
program main.bt 'Object subclass: Other
Object subclass: Main
  class main: arguments => Console printLine: (arguments join: "+")'
expect "main: gets the arguments" 0 '^a\+b~$' '' "$binary" run "$work/main.bt" a b
program nothing_to_run.bt 'Object subclass: A
Object subclass: B'
expect "nothing to run" 1 '' 'nothing to run' "$binary" run "$work/nothing_to_run.bt"
program fails.bt 'Console printLine: "before"
3 foo'
expect "uncaught error" 1 '^before~$' "^Integer does not understand 'foo'~Hint: " "$binary" run "$work/fails.bt"
program exits.bt 'Program exit: 7'
expect "Program exit:" 7 '' '' "$binary" run "$work/exits.bt"
program writes.bt 'd := "'"$work"'/tree"
Console printLine: (File writeAll: d ++ "/a/b.txt" contents: "1") printString
Console printLine: (File writeAll: d ++ "/a/b.txt" contents: "2") printString
Console printLine: (File open: d ++ "/c/d/e.txt" mode: #append do: [:h | 3]) printString
Console printLine: (File readAll: d ++ "/a/b.txt") printString
Console printLine: (File writeAll: d ++ "/a/b.txt/c" contents: "3") error kind printString
Console printLine: (File open: d ++ "/f/g.txt" mode: #read) error kind printString
Console printLine: (File exists: d ++ "/f") printString'
expect "writing makes the directories that are missing, reading none" 0 \
    '^Result ok: nil~Result ok: nil~Result ok: 3~Result ok: "2"~#not_a_directory~#file_not_found~false~$' '' "$binary" run "$work/writes.bt"
expect "eval" 0 '^7~$' '' "$binary" eval '3 + 4'
expect "eval error" 1 '' 'bad arithmetic operation' "$binary" eval '1 / 0'
expect "eval from a pipe" 0 '^12~$' '' bash -c "echo '6 * 2' | '$binary' eval -"
expect "check" 0 '' '' "$binary" check "$work/entry.bt"
expect "ir" 0 'MethodBody' '' "$binary" ir "$work/entry.bt"
expect "disasm" 0 'SEND' '' "$binary" disasm "$work/entry.bt"

# Processes and limits
program deep.bt 'Object subclass: Deep
  class down: n => n =:= 0 ifTrue: [0] ifFalse: [1 + (self down: n - 1)]
Console printLine: (Deep down: 100000) printString'
expect "deep recursion" 0 '^100000~$' '' "$binary" run "$work/deep.bt"
program endless.bt 'Value subclass: Endless
  down: n => 1 + (self down: n + 1)
Actor subclass: Calm
  ping => #pong
calm := Calm spawn
kind := [Endless new down: 0] on: Error do: [:e | e kind]
Console printLine: kind printString
Console printLine: calm ping printString'
expect "endless recursion is an error" 0 '^#resource_error~#pong~$' '' "$binary" run --stack-limit 8000000 "$work/endless.bt"
program tail.bt 'Object subclass: Loop
  class sealed run: n => n =:= 0 ifTrue: [#done] ifFalse: [self run: n - 1]
Value subclass: Walk
  down: n => n =:= 0 ifTrue: [#done] ifFalse: [self down: n - 1]
Console printLine: (Loop run: 100000) printString
Console printLine: (Walk new down: 100000) printString'
expect "tail sends in constant space" 0 '^#done~#done~$' '' "$binary" run --heap-limit 1000000 --stack-limit 100000 "$work/tail.bt"
program fair.bt 'Actor subclass: Hog
  spin => [true] whileTrue: [nil]
Actor subclass: Quiet
  ping => #pong
hog := Hog spawn
hog spin!
Console printLine: Quiet spawn ping printString'
expect "an endless loop holds up nobody" 0 '^#pong~$' '' "$binary" run --seed 5 "$work/fair.bt"
program kept.btscript 'text := "kept"
// => kept
big := 9223372036854775807
// => 9223372036854775807
map := #{#a => "one", "b" => #("two", 3)}
// => _
text ++ (map at: #a) ++ (map at: "b") first ++ big printString
// => keptonetwo9223372036854775807
[:x | x ++ text] value: "is "
// => is kept'
expect "literals outlive the input they stand in" 0 '5 passed, 0 failed' '' "$binary" test "$work/kept.btscript"
program racy.bt 'Collection subclass: Racy
  field: n = 0
  do: aBlock =>
    1 to: 6 do: [:k | Timer after: 1 do: [1 to: 3000 do: [:i | aBlock value: #(i, i)]]]
    1 to: 30000 do: [:i | i * 2]
    nil
whole := (1 to: 200) asList allSatisfy: [:k | Racy new asList allSatisfy: [:pair | pair first =:= pair last]]
Console printLine: whole printString'
expect "a List is made of what others still gather" 0 '^true~$' '' "$binary" run "$work/racy.bt"
program transcript.bt 'Console print: "1 "
Transcript show: 2; show: #(1, "x"); cr
3 showCr: "three"
Console printLine: Transcript class printString ++ (Transcript recent size) printString
TranscriptStream resetCurrent
4 showCr: "nobody listens"
own := TranscriptStream spawnWith: #{#max_buffer => 3}
TranscriptStream current: own
1 to: 20 do: [:i | i show: i]
Console printLine: own recent printString'
expect "the transcript is an actor and keeps its last entries" 0 '^1 2#\(1, x\)~three~TranscriptStream5~#\("18", "19", "20"\)~$' '' "$binary" run "$work/transcript.bt"
program defines.btscript 'Object subclass: Shelf
// => Shelf
Shelf >> size => 3
// => Shelf>>size
Shelf class >> make => self new
// => Shelf class>>make
Protocol define: Sized
  size -> Integer
// => Protocol Sized defined
Shelf make size
// => 3'
expect "definitions show what they define" 0 '5 passed, 0 failed' '' "$binary" test "$work/defines.btscript"
program state.bt 'Actor subclass: Till
  state: sum = 7
  look => (Inspector on: self) fields first value
till := Till spawn
Console printLine: (Inspector on: till) subject printString
Console printLine: till look printString
till stop
Console printLine: (Inspector on: till) subject printString'
expect "inspectors see the state of actors" 0 '^#\{#sum => 7\}~7~nil~$' '' "$binary" run "$work/state.bt"
long=$(printf 'Long%.0s' {1..100})
program long.bt "Object subclass: $long
Console printLine: $long class name
Console printLine: $long class printString
Console printLine: ([$long class foo] on: Error do: [:e | e printString])"
expect "the name of a metaclass is whole, however long" 0 "^$long class~$long class~.*$" '' "$binary" run "$work/long.bt"
program reflects.bt 'Object subclass: Grows
Actor subclass: Reader
  state: count = 0
  look =>
    1 to: 500 do: [:i | self.count := Grows methods size]
    self.count
readers := (1 to: 4) collect: [:i | Reader spawn]
readers do: [:each | each look!]
1 to: 300 do: [:i | Grows compile: ("m" ++ i printString) asAtom source: "m" ++ i printString ++ " => 1"]
Console printLine: ((readers collect: [:each | each look]) printString)'
expect "methods are listed while others are installed" 0 '^#\(300, 300, 300, 300\)~$' '' "$binary" run "$work/reflects.bt"
program patched.bt 'Object subclass: Folds
  class of: xs => xs do: [:x | x]
Console printLine: (Folds of: #(1)) printString
List compile: #do: source: "do: aBlock => #mine"
Console printLine: (Folds of: #(1)) printString'
expect "a fold compiled in place is sent once the class List is patched" 0 '^nil~#mine~$' '' "$binary" run "$work/patched.bt"
program prints.btscript 'Console print: "no line end"
// => nil
Transcript show: "not shown"
// => Actor(TranscriptStream, _)'
expect "TAP has its lines for itself" 0 '^TAP version 13~no line end~ok 1 .*~ok 2 [^~]*~1..2~$' '' "$binary" test --format tap "$work/prints.btscript"

mkdir -p "$work/kept/inner" "$work/tree/a/b" "$work/tree/empty" "$work/other"
: >"$work/kept/precious"
: >"$work/kept/inner/precious"
: >"$work/tree/a/b/file"
: >"$work/single"
: >"$work/other/file"
ln -s "$work/kept" "$work/tree/a/link"
ln -s "$work/kept/precious" "$work/tree/link to file"
ln -s "$work/nowhere" "$work/tree/dangling"
ln -s "$work/kept" "$work/link"
ln -s "$work/other" "$work/slashed"
program delete_all.bt 'Object subclass: Main
  class main: paths => paths do: [:each |
    outcome := File deleteAll: each
    Console printLine: (outcome isOk ifTrue: [outcome value printString] ifFalse: [outcome error kind printString])]'
expect "deleteAll: deletes links, not what they lead to" 0 '^nil~nil~nil~#file_not_found~#not_a_directory~$' '' \
    "$binary" run "$work/delete_all.bt" "$work/tree" "$work/link" "$work/single" "$work/nothing" "$work/slashed/"
expect "deleteAll: leaves what links lead to, and nothing else" 0 '^kept~kept/inner~kept/inner/precious~kept/precious~other~other/file~slashed~$' '' \
    bash -c 'cd "$1" && find kept other slashed tree link single 2>/dev/null | LC_ALL=C sort' - "$work"

# Further parts use expect and program.
for part in "$root"/tests/cli/part_*.sh; do
    # shellcheck source=/dev/null
    source "$part"
done

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
