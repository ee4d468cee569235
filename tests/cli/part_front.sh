# Part of run.sh: what works on sources and packages without running them.
# shellcheck shell=bash disable=SC2154

# fmt
mkdir -p "$work/fmt/sub"
printf 'Object   subclass: A\n    a=>3+4\n' >"$work/fmt/messy.bt"
cp "$work/fmt/messy.bt" "$work/fmt/sub/other.bt"
printf 'x := := 3   y\n' >"$work/fmt/broken.bt"
printf 'x   := 3\n// => 3\n' >"$work/fmt/cases.btscript"
expect "fmt-check shows a diff and changes nothing" 1 '^--- .*messy\.bt~\+\+\+ .*messy\.bt~@@ -1,2 \+1,2 @@~-Object   subclass: A~-    a=>3\+4~\+Object subclass: A~\+  a => 3 \+ 4~--- .*other\.bt' \
    "warning: skipping '.*broken\.bt' \(has parse errors\)~2 file\(s\) would be reformatted" "$binary" fmt-check "$work/fmt"
expect "fmt --check is fmt-check" 1 '^--- ' '1 file\(s\) would be reformatted' "$binary" fmt --check "$work/fmt/sub"
chmod 640 "$work/fmt/messy.bt"
expect "fmt rewrites" 0 '' "warning: skipping '.*broken\.bt'" "$binary" fmt "$work/fmt"
expect "fmt wrote canonical text and kept the mode" 0 '^640~Object subclass: A~  a => 3 \+ 4~x   := 3~// => 3~x := := 3   y~$' '' \
    bash -c 'cd "$1"; stat -c %a messy.bt; cat messy.bt cases.btscript broken.bt' - "$work/fmt"
rm "$work/fmt/broken.bt"
expect "fmt is silent the second time" 0 '' '' "$binary" fmt "$work/fmt"
expect "fmt-check is content" 0 '' '' "$binary" fmt-check "$work/fmt"
expect "fmt of a missing file" 1 '' 'file not found' "$binary" fmt "$work/fmt/none.bt"
expect "fmt leaves no other files" 0 '^cases.btscript~messy.bt~sub~$' '' ls "$work/fmt"

# new

expect "new library" 0 "^Created library package 'my_lib'~~Next steps:~" '' env -C "$work" "$binary" new my_lib
expect "new application" 0 "^Created application package 'my_app'~~Next steps:~" '' env -C "$work" "$binary" new my_app --app
expect "new refuses what exists" 1 '' "directory 'my_lib' exists already" env -C "$work" "$binary" new my_lib
expect "new refuses bad names" 1 '' "'Bad' is no name for a package" env -C "$work" "$binary" new Bad
expect "new needs a name" 2 '' 'new needs' env -C "$work" "$binary" new
expect "new packages are in canonical layout" 0 '' '' env -C "$work" "$binary" fmt-check my_lib my_app
expect "files of a library" 0 '^my_lib/.github/workflows/ci.yml~my_lib/.gitignore~my_lib/Justfile~my_lib/README.md~my_lib/beamtalk.toml~my_lib/src/MyLib.bt~my_lib/test/MyLibTest.bt~$' '' \
    env -C "$work" bash -c 'find my_lib -type f | LC_ALL=C sort'
expect "files of an application" 0 'my_app/src/Main.bt~my_app/src/MyAppAppSup.bt~my_app/test/MainTest.bt~$' '' \
    env -C "$work" bash -c 'find my_app -type f | LC_ALL=C sort'

# doctor, clean, and what there is not
expect "doctor" 0 '✅ Standard library.*✅ Temporary.*All checks passed' '' env TERM=xterm "$binary" doctor
expect "doctor without a temporary directory" 1 '❌ Temporary directory .*Some checks failed' '' env TMPDIR="$work/none" "$binary" doctor
mkdir -p "$work/my_lib/_build/dev/a"
expect "clean --dry-run" 0 '^Would remove _build/dev/' '' bash -c 'cd "$1/my_lib" && "$2" clean --dry-run && ls _build/dev' - "$work" "$binary"
expect "clean" 0 '^Removed _build/dev/~dev gone~$' '' bash -c 'cd "$1/my_lib" && "$2" clean && { [ -e _build/dev ] || echo dev gone; }' - "$work" "$binary"
expect "publish" 1 '' "^Error: 'publish' is not available in this build~$" "$binary" publish
for command in run eval test check fmt fmt-check new clean doctor ir verify disasm publish; do
    expect "$command --help" 0 "^usage: beamtalk $command" '' "$binary" "$command" --help
done

# check and lint of a project: files see each other's classes, in any order; an error is reported where it is, and only there
mkdir -p "$work/project/src"
printf 'Base subclass: Sub\n  bar => self.x + 1\n' >"$work/project/src/a.bt"
printf 'Value subclass: Base\n  field: x = 1\n  foo => undefinedThing\n  baz => Subb new. 3\n' >"$work/project/src/b.bt"
printf '[Sub new bar.] value\n' >"$work/project/c.bt"
expect "check of a project" 1 '' '^error: Undefined variable: undefinedThing~  --> .*b\.bt:3:10~  foo => undefinedThing~         \^+~warning: Unresolved class `Subb`~.*help: did you mean `Sub`\?~$' "$binary" check "$work/project"
expect "check --format json" 1 '^\{"file":".*b.bt","severity":"error","category":"undefined_variable","message":"Undefined variable: undefinedThing","line":3,"column":10,"span_start":45,"span_end":59,"hint":null,"notes":\[\]\}~\{"file":.*"hint":"did you mean `Sub`\?".*~\{"totals_by_severity":\{"error":1,"warning":1,"hint":0\},"totals_by_category":\{"undefined_variable":1,"unresolved_class":1\},"files_checked":3,"total":2\}~$' '' \
    "$binary" check --format json "$work/project"
sed -i 's/undefinedThing/1/' "$work/project/src/b.bt"
expect "warnings" 0 '' '^warning: Unresolved class' "$binary" check "$work/project"
expect "warnings as errors" 1 '' '^warning: Unresolved class' "$binary" check --warnings-as-errors "$work/project"
sed -i 's/Subb/Sub/' "$work/project/src/b.bt"
expect "a clean check" 0 '' '' "$binary" check "$work/project"
expect "lint" 1 "" "^lint: unnecessary trailing .\..*~1 lint diagnostics found in 1 file" "$binary" lint "$work/project"
expect "bad format" 2 '' 'text or json' "$binary" check --format xml
program shadow.bt 'Value subclass: String'
expect "check sees a class of the library defined anew" 1 '' "Cannot redefine stdlib class 'String'" "$binary" check "$work/shadow.bt"
# Colour needs a terminal.
expect "no colour in a pipe" 1 '' '^error: ' env TERM=xterm "$binary" check "$work/broken.bt"
if command -v script >/dev/null; then
    expect "colour on a terminal" 0 $'\e\\[' '' env -u NO_COLOR TERM=xterm script -qec "$binary check $work/broken.bt || true" /dev/null
    expect "--no-color" 0 '^error: ' '' env -u NO_COLOR TERM=xterm script -qec "$binary check --no-color $work/broken.bt || true" /dev/null
    expect "NO_COLOR" 0 '^error: ' '' env NO_COLOR=1 TERM=xterm script -qec "$binary check $work/broken.bt || true" /dev/null
    expect "a dumb terminal" 0 '^error: ' '' env -u NO_COLOR TERM=dumb script -qec "$binary check $work/broken.bt || true" /dev/null
fi

# Diagnostics that teach: source, then what the help must say.
teaches() {
    program teach.bt "$1"
    expect "teaches: $1" 1 '' "$2" "$binary" run "$work/teach.bt"
}
teaches "x := 'hello'" 'single-quoted strings are not supported.*help: a String is written "…", a Symbol #name'
teaches '| a b | a := 3' 'help: variables are not declared'
teaches 'x := 3. x != 4' 'help: `/=` and `=/=`'
teaches 'x := true && false' 'help: write `a and: \[b\]`'
teaches 'x = 3' 'help: use `=:=` or `==` to compare, `:=` to assign'
teaches 'y := 1. x := -y' 'help: the negative of a variable is `x negated`'
teaches 'x := [:a b | a]' 'help: each parameter has a colon of its own'
teaches '"never closed' 'help: the string that begins here is not closed'
teaches 'return 3' 'help: `\^ value` returns from a method'
teaches 'count := 3. Console printLine: cuont' 'help: did you mean `count`\?'
teaches 'Tanscript show: "a"' 'Unresolved class `Tanscript`.*help: did you mean `Transcript`\?'
teaches 'Objct subclass: A
  foo => 3' 'Unknown superclass `Objct`.*help: did you mean `Object`\?'
teaches 'Actor subclass: C
  state: n = 0
  inc => n := m + 1' 'Undefined variable: m'
teaches 'Actor subclass: C
  state: n = 0
  more => n + 1' 'Undefined variable: n.*help: a field is written `self\.n`'
teaches '42 prntString' "Integer does not understand 'prntString'~Hint: Did you mean 'printString'\?"
teaches '(Result ok: "a") size' "Result does not understand 'size'~Hint: A Result holds a value or an error: .unwrap."
teaches '"a" + "b"' "String does not understand '\+'~Hint: Strings are joined with"
teaches 'File exits: "a"' "File does not understand 'exits:'~Hint: Did you mean 'exists:'\?"
expect "verify blames the text" 1 '' '^error: A>>m, MethodBody: StaleVersionRead' "$binary" verify "$root/tests/ir/stale_snap.ir"

# build: images, what is compiled again, and one executable file
mkdir -p "$work/built/src"
printf 'Base subclass: Sub\n  bar => self.x + 1\n' >"$work/built/src/b.bt"
printf 'Value subclass: Base\n  field: x = 1\n' >"$work/built/src/z.bt"
printf 'Object subclass: Main\n  class main: args => Console printLine: "{Sub new bar} {args}"\n' >"$work/built/src/main.bt"
expect "build" 0 '' '^Compiling 3 files~$' env -C "$work/built" "$binary" build
expect "build again" 0 '' '^All 3 files unchanged — nothing to compile~$' env -C "$work/built" "$binary" build
sed -i 's/x = 1/x = 5/' "$work/built/src/z.bt"
expect "a changed superclass" 0 '' '^Compiling 2 of 3 files \(1 unchanged\)~$' env -C "$work/built" "$binary" build
printf 'x' | dd of="$work/built/_build/dev/src/b.btimage" bs=1 seek=200 conv=notrunc 2>/dev/null
expect "a damaged image is compiled again" 0 '' '^Compiling 1 of 3 files' env -C "$work/built" "$binary" build
expect "one file" 0 "" "^All 3 files" env -C "$work/built" "$binary" build -o app
expect "one file runs" 0 '^6 #\("a", "b"\)~$' '' "$work/built/app" a b
cp "$work/built/app" "$work/built/bad" && printf 'X' | dd of="$work/built/bad" bs=1 seek=$(($(stat -c %s "$work/built/app") - 30)) conv=notrunc 2>/dev/null
expect "a damaged file" 1 '' 'this program is damaged' "$work/built/bad"
expect "no such entry" 1 '' "no class has the entry 'Main foo'" env -C "$work/built" "$binary" build -o app --entry "Main foo"
