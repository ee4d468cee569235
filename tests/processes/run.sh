#!/usr/bin/env bash
# Processes seen from outside: limits, logs, fairness. Usage: run.sh BINARY. Last line: `N passed, N failed`.
binary=$1
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=../expect.sh
. "$here/../expect.sh"

# ---- limits ----

program mailbox.bt 'Actor subclass: Slow
  state: n = 0
  nap => Timer sleep: 300
  bump => self.n := self.n + 1
a := Slow spawn
VmProcess monitor: a pid
a nap!
1 to: 1000 do: [:i | a bump!]
Console printLine: a isAlive printString
Console printLine: (a isAlive ifTrue: ["lives"] ifFalse: ["ended: " ++ VmProcess receive printString])
b := Slow spawn
1 to: 50 do: [:i | b bump!]
Console printLine: b bump printString'
expect "a full mailbox ends its owner" 0 '^false~ended: #resource_error~51~$' \
    '^error: Slow 0\.[0-9]+\.[0-9]+ is ended: more than 100 messages wait in its mailbox~$' "$binary" run --mailbox-limit 100 "$work/mailbox.bt"
expect "without a limit a mailbox grows" 0 '^true~lives~51~$' '' "$binary" run "$work/mailbox.bt"

program heap.bt 'Actor subclass: Hog
  state: keep = nil
  text: n => self.keep := "x" repeat: n
  list: n => self.keep := (1 to: n) asList
  small => 3
  double: text =>
    s := text
    [true] whileTrue: [s := s ++ s]
kindOf := [:block | [block value. #none] on: Exception do: [:e | e kind printString ++ " " ++ e hint printString]]
a := Hog spawn
Console printLine: (kindOf value: [a text: 50000000])
Console printLine: (kindOf value: [a list: 3000000])
Console printLine: a small printString
Console printLine: (kindOf value: [a double: "abcdefgh"])'
hint='"The heap of this process would be larger than its limit of 10000000 bytes"'
expect "a heap limit counts objects and the bytes of strings" 0 "^#resource_error $hint~#resource_error $hint~3~#resource_error $hint~$" \
    '^(error: (Hog|process) 0\.[0-9]+\.[0-9]+ ran into a limit( in [^~]*)?: The heap [^~]*~){3}$' "$binary" run --heap-limit 10000000 "$work/heap.bt"

program memory.bt 'Actor subclass: Slow
  nap => Timer sleep: 60000
  take: x => x
a := Slow spawn
a nap!
kind := [[true] whileTrue: [a take: #(1, 2, 3, 4, 5, 6, 7, 8, 9, 10)!]] on: Exception do: [:e | e kind]
Console printLine: kind printString'
expect "a flood of messages ends at the memory limit" 0 '^#resource_error~$' 'memory limit of 600000000 bytes' \
    "$binary" run --memory-limit 600000000 "$work/memory.bt"
program grow.bt 'Actor subclass: Hog
  state: keep = #()
  grow: n => self.keep := self.keep ++ #("x" repeat: n)
  small => #small
hogs := (1 to: 4) asList collect: [:i | Hog spawn]
failed := 0
1 to: 100 do: [:i | hogs do: [:h | [h grow: 4000000] on: Exception do: [:e | failed := failed + 1]]]
Console printLine: (failed > 0) printString
Console printLine: ((hogs collect: [:each | each small]) printString)'
expect "who asks for much beyond the memory limit fails, the others go on" 0 '^true~#\(#small, #small, #small, #small\)~$' \
    'ran into a limit in grow:: The virtual machine' "$binary" run --memory-limit 600000000 "$work/grow.bt"

# ---- fairness ----

program fair.bt 'Object subclass: Hogs
  class sealed sorting: list => [true] whileTrue: [list sort]
  class sealed printing: x => [true] whileTrue: [x printString]
  class sealed multiplying: x => [true] whileTrue: [x * x]
Actor subclass: Echo
  echo => 1
list := (1 to: 100000) asList reversed
big := 7 ** 20000
3 timesRepeat: [
  VmProcess start: [Hogs sorting: list]
  VmProcess start: [Hogs printing: big]
  VmProcess start: [Hogs multiplying: big]]
e := Echo spawn
start := Time nowMs
30 timesRepeat: [
  Timer sleep: 1
  e echo]
Console printLine: (Time nowMs - start < 20000) printString'
expect "who runs long primitives pays for them and starves nobody" 0 '^true~$' '' timeout 60 "$binary" run "$work/fair.bt"
program polls.bt 'Actor subclass: Link
  state: next = nil
  state: done = false
  next: aLink => self.next := aLink
  pass: n => n =:= 0 ifTrue: [self.done := true] ifFalse: [self.next pass: n - 1!]
  done => self.done
Actor subclass: Flag
  up => false
a := Link spawn
b := Link spawn
flag := Flag spawn
a next: b
b next: a
a pass: 50000!
[a done] whileFalse: [Timer sleep: 0. flag up]
Console printLine: "done"'
expect "a loop of short sleeps starves nobody on its scheduler" 0 '^done~$' '' timeout -s KILL 60 "$binary" run --schedulers 1 "$work/polls.bt"
program polled.bt "$(cat <<'END'
Actor subclass: Link
  state: next = nil
  state: done = false
  next: aLink => self.next := aLink
  pass: n => n =:= 0 ifTrue: [self.done := true] ifFalse: [self.next pass: n - 1!]
  done => self.done
Actor subclass: Flag
  state: polls = 0
  up => self.polls := self.polls + 1
  polls => self.polls
links := (1 to: 100) asList collect: [:i | Link spawn]
links eachWithIndex: [:each :i | each next: (links at: i % 100 + 1)]
flag := Flag spawn
links first pass: 20000!
[links first done] whileFalse: [Timer sleep: 0. flag up]
Console printLine: (flag polls < 3500) printString
END
)"
expect "who sleeps in a loop pays for being picked: others get half of the scheduler" 0 '^true~$' '' "$binary" run --schedulers 1 "$work/polled.bt"

program idle.bt 'Timer sleep: 1000
Console printLine: "slept"'
before=$(awk '{print $16 + $17}' /proc/$$/stat)
"$binary" run "$work/idle.bt" >"$work/out"
used=$(($(awk '{print $16 + $17}' /proc/$$/stat) - before))
verdict "an idle VM uses no processor: $used ticks" $([ "$used" -lt 20 ] && echo 1 || echo 0)

# ---- crash reports ----

program crash.bt 'Actor subclass: Till
  state: balance = 0
  state: log = #(1, "two")
  add: n to: x =>
    self.balance := self.balance + n
    self helper: x
  helper: x => x frobnicate: 3
  balance => self.balance
Server subclass: Ear
  handleInfo: m => nil foo
  ping => #pong
t := (Till spawnAs: #till) unwrap
t add: 5 to: "text"!
Console printLine: t balance printString
e := Ear spawn
Erlang erlang send: e msg: #(1, 2)
Console printLine: e ping printString'
pid='0\.[0-9]+\.[0-9]+'
expect "a crash report names class, selector, message, state and place" 0 '^0~#pong~$' \
    "^warning: Till>>add:to: failed: String does not understand 'frobnicate:'~  process $pid, registered as till~  message add:to: 5, \"text\", cast by $pid~  state balance: 0, log: #\(1, \"two\"\)~  at Till>>helper: \([^~]*crash.bt:7\)~  at Till>>add:to: \([^~]*crash.bt:6\)~warning: Ear>>handleInfo: failed: [^~]*~  process $pid~  message handleInfo: #\(1, 2\), sent by $pid~  at Ear>>handleInfo:" \
    "$binary" run "$work/crash.bt"

# ---- signals ----

program family.bt 'Actor subclass: Part
  state: name = nil
  terminate: reason => Console printLine: "{self.name} {reason}"
Supervisor subclass: Inner
  class children => #((Part supervisionSpec withId: #i1) withArgs: #{#name => #i1})
Supervisor subclass: Outer
  class children => #(((Part supervisionSpec withId: #o1) withArgs: #{#name => #o1}), Inner)
Supervisor subclass: Other
  class children => #(((Part supervisionSpec withId: #x1) withArgs: #{#name => #x1}), ((Part supervisionSpec withId: #x2) withArgs: #{#name => #x2}))
Outer supervise
Other supervise
Console printLine: "ready"
Console flush
Timer sleep: 60000'

# until FILE PATTERN: waits for it, ten seconds at most.
until_seen() {
    local i
    for ((i = 0; i < 200; i++)); do
        grep -qaE -- "$2" "$1" 2>/dev/null && return 0
        sleep 0.05
    done
    return 1
}

"$binary" run "$work/family.bt" >"$work/out" 2>"$work/err" &
program_pid=$!
until_seen "$work/out" ready && kill -USR1 $program_pid && until_seen "$work/err" '^----$'
kill -TERM $program_pid
wait $program_pid
status=$?
tr '\n' '~' <"$work/err" | grep -qE '^---- state of the virtual machine.*[0-9]+ processes, .*~pid +class .*SupervisorEngine #beamtalk_supervisor_Outer.*~supervisors~.*Outer #Pid<[0-9.]+> children: 2>~ +#SupervisionNode<#beamtalkActor Part .*~----~$'
verdict "SIGUSR1 writes a state dump and ends nothing" $([ $? = 0 ] && echo 1 || echo 0) "$work/err"
[ "$(tr '\n' '~' <"$work/out")" = "ready~x2 shutdown~x1 shutdown~i1 shutdown~o1 shutdown~" ] && [ $status = 143 ]
verdict "SIGTERM ends supervisors in reverse order: exit $status" $([ $? = 0 ] && echo 1 || echo 0) "$work/out"

# ---- a running program reached by its socket ----

program server.bt 'Actor subclass: Counter
  state: n = 0
  bump => self.n := self.n + 1
c := (Counter spawnAs: #counter) unwrap
c bump
Console printLine: "up"
Console flush
Timer sleep: 60000'
socket=$work/socket
"$binary" run --listen "$socket" "$work/server.bt" >"$work/served" 2>&1 &
program_pid=$!
until_seen "$work/served" up
verdict "the socket is its owner's alone" $([ "$(stat -c %A "$socket")" = srw------- ] && echo 1 || echo 0) "$work/served"
printf '(Counter named: #counter) unwrap bump\nx := 3\nx + 4\n[1\n] value\nnil foo\n' >"$work/input"
expect "attach evaluates in the running program" 0 '^2~3~7~1~$' "^Error: RuntimeError: UndefinedObject does not understand 'foo'~Hint: " \
    bash -c '"$0" attach "$1" <"$2"' "$binary" "$socket" "$work/input"
expect "each attachment has its own session" 0 '' 'Undefined variable: x' bash -c 'echo x | "$0" attach "$1"' "$binary" "$socket"
expect "top shows processes" 0 '^[0-9]+ processes, .*~pid +class .*~0\.[0-9]+\.[0-9]+ +Counter #counter +idle ' '' "$binary" top "$socket"
expect "a socket has one program" 1 '' 'another program listens' "$binary" run --listen "$socket" "$work/server.bt"
printf '[true] whileTrue: [nil]\n' >"$work/input"
"$binary" attach "$socket" <"$work/input" >"$work/looping" 2>&1 &
sleep 0.3
kill -TERM $program_pid
wait $program_pid
status=$?
wait
verdict "a program ends though an attachment loops: exit $status" $([ $status = 143 ] && [ ! -e "$socket" ] && echo 1 || echo 0) "$work/looping"
expect "nobody listens" 1 '' 'no program listens at' "$binary" attach "$socket"
expect "a file is no socket" 1 '' 'exists and is no socket' "$binary" run --listen "$work/server.bt" "$work/server.bt"

# ---- profile ----

program hot.bt 'Object subclass: Hot
  class fib: n => n < 2 ifTrue: [n] ifFalse: [(self fib: n - 1) + (self fib: n - 2)]
  class cold => 3
Object subclass: Main
  class run =>
    Hot cold
    Hot fib: 25
    Console printLine: "done"'
expect "profile tells the hot method" 0 '^done~$' '^profile: [0-9.]+ ms in methods; stacks in [^~]*~ *[0-9.]+ % +[0-9.]+ ms  Hot class>>fib:~' \
    "$binary" profile -o "$work/folded" "$work/hot.bt"
grep -qE '^(.*;)?Hot class>>fib:;Hot class>>fib:.* [0-9]+$' "$work/folded"
verdict "folded stacks" $([ $? = 0 ] && echo 1 || echo 0) "$work/folded"

# ---- exploration ----

tickets=$here/../../examples/exploration/tickets_test.bt
"$binary" test --explore 200 "$tickets" >"$work/explored" 2>&1
seed=$(sed -nE 's/^FAIL TicketsTest testOneTicketIsSoldOnce: seed ([0-9]+), .*Expected 1, got [23]$/\1/p' "$work/explored")
verdict "exploration finds the planted bug" $([ -n "$seed" ] && echo 1 || echo 0) "$work/explored"
grep -q 'TicketsTest: 2 tests, 1 passed, 1 failed' "$work/explored"
verdict "exploration passes what is right" $([ $? = 0 ] && echo 1 || echo 0) "$work/explored"
why=$(sed -nE 's/^FAIL TicketsTest testOneTicketIsSoldOnce: seed [0-9]+, interleaving [0-9]+: (.*)$/\1/p' "$work/explored")
expect "the seed repeats the failure" 1 "TicketsTest: 2 tests, 1 passed, 1 failed" "seed $seed, interleaving 1: $why~" \
    "$binary" test --explore 1 --seed "${seed:-0}" "$tickets"
program hangs_test.bt 'Actor subclass: Locker
  state: other = nil
  other: x => self.other := x
  go => self.other reach
  reach => self.other pong
  pong => #pong
TestCase subclass: HangsTest
  testWaitsForever => VmProcess receive'
expect "exploration reports what waits for ever" 1 'HangsTest: 1 tests, 0 passed, 1 failed' 'seed 5, interleaving 1: test timed out after 60 s' \
    "$binary" test --explore 3 --seed 5 "$work/hangs_test.bt"
expect "exploration wants a number" 2 '' "--explore needs a number" "$binary" test --explore none "$tickets"

finish
