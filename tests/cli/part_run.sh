# `run` in packages: entries by name, services, classes of src/, --load. Sourced by run.sh.
# shellcheck shell=bash disable=SC2154

package() { # package NAME [LINES OF beamtalk.toml...]
    mkdir -p "$work/$1/src"
    printf '%s\n' '[package]' "name = \"$1\"" 'version = "1.2.3"' "${@:2}" >"$work/$1/beamtalk.toml"
}
printf '#!/bin/sh\ncd "%s/$1" && shift && exec "$@"\n' "$work" >"$work/inside" # inside PACKAGE COMMAND...
chmod +x "$work/inside"

package shop
program shop/src/price.bt 'Object subclass: Price
  class sealed of: n => n * 2'
program shop/src/desk.bt 'Object subclass: Desk
  class run => Console printLine: "price {Price of: 21}"
  class main: words => Console printLine: (words join: "-")
  class fails => Price of: #x'
program shop/tool.bt 'Console printLine: (Price of: 4) printString'
expect "an entry of a package" 0 '^price 42~$' 'Building\.\.\.~~Running Desk>>run\.\.\.~' "$work/inside" shop "$binary" run Desk run
expect "a keyword entry gets the arguments" 0 '^a---b~$' 'Running Desk>>main:' "$work/inside" shop "$binary" run Desk main: a --b
expect "a leading -- shields" 0 '^--x~$' 'Running Desk>>main:' "$work/inside" shop "$binary" run Desk main: -- --x
expect "a unary entry takes none" 1 '' "^Error: The unary entry 'run' takes no arguments, but 2 were given" "$work/inside" shop "$binary" run Desk run a b
expect "no selector" 1 '' '^Error: Missing selector for script mode\.' "$work/inside" shop "$binary" run Desk
expect "no such entry" 1 '' "Error: Desk has no class method 'walk'" "$work/inside" shop "$binary" run Desk walk
expect "no class name" 1 '' "'desk' is no class name" "$work/inside" shop "$binary" run desk run
expect "an operator is no entry" 1 '' 'is no entry' "$work/inside" shop "$binary" run Desk +
expect "an entry that fails" 1 '' "Symbol does not understand" "$work/inside" shop "$binary" run Desk fails
expect "no package here" 1 '' '^Error: No beamtalk\.toml found in the current directory\.~Script mode.*~To run a file' "$work/inside" other "$binary" run Desk run
expect "a file of a package uses its classes" 0 '^8~$' '' "$binary" run "$work/shop/tool.bt"
program uses_price.bt 'Console printLine: (Price of: 5) printString'
expect "--load names further files" 0 '^10~$' '' "$binary" run --load "$work/shop/src/price.bt" "$work/uses_price.bt"
expect "no service" 1 '' 'No entry point defined for shop: .*\[application\]' "$work/inside" shop "$binary" run .
program shop/src/broken.bt 'Object subclass: Broken
  class x => ('
expect "a package with a syntax error runs nothing" 1 '' 'error: .*src/broken\.bt:3' "$work/inside" shop "$binary" run Desk run

package tree '[application]' 'supervisor = "Root"'
program tree/src/root.bt 'Supervisor subclass: Root
  class strategy => #oneForOne
  class children => #()'
for signal in INT:130 TERM:143; do
    expect "a service runs until SIG${signal%:*}" "${signal#*:}" '' '^Building\.\.\.~Started tree v1\.2\.3~Supervisor : Root~' \
        "$work/inside" tree timeout --preserve-status -s "${signal%:*}" 1 "$binary" run .
done
program tree/src/root.bt 'Supervisor subclass: Root
  class strategy => #oneForOne
  class children =>
    VmProcess start: [Timer sleep: 100. Root current stop]
    #()'
expect "a service that ends well" 0 '' 'Supervisor : Root~$' "$work/inside" tree "$binary" run .

# A class with a method named like a construct, loaded behind code that was compiled without it.
program early.bt 'Object subclass: Early
  class try: x => x ifTrue: [3]
  class count: x => x to: 3 do: [:i | i]
  class both: x => x ifTrue: [1] ifFalse: [2]'
program latecomer.bt 'Value subclass: Latecomer
  field: tag = 1
  ifTrue: b => #(b value)
  ifTrue: b ifFalse: c => #untouched
  to: n do: b => b value: n
Object subclass: Main
  class kindOf: b => b on: Error do: [:e | "{e kind}, {e hint}"]
  class run =>
    x := Latecomer new
    Console printLine: (self kindOf: [Early try: x])
    Console printLine: (self kindOf: [Early count: x])
    Console printLine: (Early both: x) printString'
expect "a block compiled in line is no argument" 0 '^(dispatch_error, Bind the block to a variable first[^~]*~){2}#untouched~$' '' \
    "$binary" run --load "$work/early.bt" "$work/latecomer.bt"
