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
