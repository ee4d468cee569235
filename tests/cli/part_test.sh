# `test`: packages, bad files, and tests that misbehave: one failure each, and the others finish. Sourced by run.sh.
# shellcheck shell=bash disable=SC2154

(cd "$work" && "$binary" new first_app) >/dev/null 2>&1
expect "the test of a new package passes" 0 '1 tests, 1 passed.*1 passed, 0 failed' '' "$work/within" first_app "$binary" test
sed -i 's/equals: .*/equals: "something else"/' "$work"/first_app/test/*.bt
expect "and fails once it is broken" 1 '0 passed, 1 failed' 'FAIL MyAppTest|FAIL FirstAppTest' "$work/within" first_app "$binary" test

mkdir -p "$work/ten"
for i in 1 2 3 4 5 6 7 8 9; do
    program "ten/good${i}_test.bt" "TestCase subclass: Good${i}Test
  testIt =>
    Console printLine: \"ran $i\"
    self assert: true"
done
program ten/bad_test.bt 'TestCase subclass: BadTest
  testIt => self assert: (1 +
  testOther => self assert: true'
expect "a syntax error in one of ten test files is reported and spoils that file" 1 'Good9Test: 1 tests, 1 passed' \
    'error: .*bad_test\.bt:.*FAIL BadTest testIt: .*10 tests, 9 passed, 1 failed' "$work/within" . "$binary" test ten
mkdir -p "$work/bare/src" "$work/bare/test"
printf '[package]\nname = "bare"\nversion = "0.1.0"\n' >"$work/bare/beamtalk.toml"
program bare/src/broken.bt 'Object subclass: Broken
  class x => ('
program bare/test/fine_test.bt 'TestCase subclass: FineTest
  testIt => Console printLine: "ran"'
expect "a syntax error in src runs nothing" 1 '^[^r]*$' 'error: .*src/broken\.bt:' "$work/within" bare "$binary" test

program spoiled_test.bt 'TestCase subclass: SpoiledTest
  testBad => unknownName + 1
  testCallsBad => self helper
  helper => anotherUnknown
  testGood => self assert: true'
expect "a semantic error spoils its method only" 1 'SpoiledTest: 3 tests, 1 passed, 2 failed' \
    'FAIL SpoiledTest testBad: .*unknownName.*FAIL SpoiledTest testCallsBad: .*anotherUnknown' "$binary" test "$work/spoiled_test.bt"

program misbehaves_test.bt 'Actor subclass: Partner
  state: other = nil
  other: a => self.other := a
  ping => self.other pong
  pong => self.other ping
TestCase subclass: MisbehavesTest
  testALoopsForEver => [true] whileTrue: [nil]
  testBKillsItsProcess => VmProcess me kill
  testCExhaustsMemory =>
    all := #()
    [true] whileTrue: [all := #(all | all)]
  testDPrintsGarbage =>
    Console print: "ok 99 - no line end"
    self assert: false
  testEDeadlocks =>
    a := Partner spawn
    b := Partner spawn
    a other: b
    b other: a
    a ping
  testFRaises => 1 / 0
  testGReturns => ^3
  testHIsFine => self assert: 1 equals: 1'
expect "tests that misbehave fail one by one, the others finish" 1 'MisbehavesTest: 8 tests, 2 passed, 6 failed' \
    'FAIL MisbehavesTest testALoopsForEver: test timed out.*FAIL MisbehavesTest testBKills.*FAIL MisbehavesTest testCExhausts.*FAIL MisbehavesTest testDPrints.*FAIL MisbehavesTest testEDead.*FAIL MisbehavesTest testFRaises' \
    "$binary" test --timeout 2000 --heap-limit 30000000 "$work/misbehaves_test.bt"
expect "what they print never shares a line with TAP" 1 '~ok 99 - no line end~.*~not ok 4 - MisbehavesTest>>testDPrintsGarbage~' 'ran into a limit in testCExhaustsMemory' \
    "$binary" test --format tap --timeout 2000 --heap-limit 30000000 "$work/misbehaves_test.bt"

program twice_a.bt 'Object subclass: Twice
  class x => 1'
program twice_b.bt 'Object subclass: Twice
  class x => 2'
program twice_test.bt 'TestCase subclass: TwiceTest
  testLater => self assert: Twice x equals: 2'
expect "a class that two files define is the later one" 0 '1 passed' '' "$binary" test "$work/twice_test.bt" "$work/twice_a.bt" "$work/twice_b.bt" -q
