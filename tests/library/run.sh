#!/usr/bin/env bash
# libbeamtalk as a host program meets it: usage: run.sh path/to/build/beamtalk. The last line is `N passed, N failed`.
# Installs into a temporary prefix; an installed copy must be all that a program needs.
set -u
build=$(cd "$(dirname "$1")" && pwd)
source_dir=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0

check() { # check NAME COMMAND...
    local name=$1
    shift
    if "$@" > "$work/out" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $name"
        head -n 15 "$work/out"
    fi
}

installs() {
    ninja -C "$build" beamtalk library && cmake --install "$build" --prefix "$work/prefix"
}
shows_only_the_header() {
    grep -oE '\bbt_[a-z0-9_]+\(' "$source_dir/vm/include/beamtalk.h" | tr -d '(' | sort -u > "$work/declared"
    nm -D --defined-only "$work/prefix/lib/libbeamtalk.so" | awk '{print $3}' | sort > "$work/shown"
    diff "$work/declared" "$work/shown"
}
compiles() { # compiles COMPILER SOURCE OUTPUT [OPTIONS...]: with the options of pkg-config only
    local flags
    flags=$(PKG_CONFIG_PATH=$work/prefix/lib/pkgconfig pkg-config --cflags --libs beamtalk) || return 1
    # shellcheck disable=SC2086
    "$1" "${@:4}" "$2" $flags -o "$3"
}
rules_answer() {
    compiles cc "$source_dir/examples/embed/rules.c" "$work/rules" -std=c17 -Wall -Wextra -Werror || return 1
    "$work/rules" > "$work/answers" || return 1
    diff "$work/answers" <(sed -n 's/^    \(\(log: \)\?[A-Z][a-z]*: .*%\|log: .*\)$/\1/p' "$source_dir/examples/embed/README.md")
}
is_cpp_safe() {
    printf '#include "beamtalk.h"\nint main() { bt_vm *vm = bt_vm_new(nullptr); bt_vm_free(vm); return vm ? 0 : 1; }\n' > "$work/a.cpp"
    compiles c++ "$work/a.cpp" "$work/a" -std=c++17 -Wall -Wextra -Werror && "$work/a"
}
is_found_by_cmake() {
    mkdir -p "$work/project"
    cp "$source_dir/examples/embed/rules.c" "$work/project/"
    printf 'cmake_minimum_required(VERSION 3.20)\nproject(p C)\nfind_package(Beamtalk REQUIRED)\nadd_executable(rules rules.c)\ntarget_link_libraries(rules Beamtalk::beamtalk)\n' > "$work/project/CMakeLists.txt"
    cmake -S "$work/project" -B "$work/project/build" -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix" &&
        ninja -C "$work/project/build" && "$work/project/build/rules" | grep -q '^Grace: 10%$'
}

# The programs of docs/embedding.md, each followed by a line `prints `...` `...`` of what it writes.
extract_programs() {
    awk -v dir="$work" '/^```c$/ { n++; file = dir "/doc" n ".c"; inside = 1; next }
        /^```$/ { if (inside) { inside = 0; wants = 1 } next }
        inside { print > file }
        wants && /^prints / { line = $0; sub(/^prints `/, "", line); sub(/`$/, "", line); gsub(/` `/, "\n", line)
                              print line > (dir "/doc" n ".want"); wants = 0 }' "$source_dir/docs/embedding.md"
    [ -f "$work/doc1.c" ]
}
documented() {
    compiles cc "$1" "$work/doc" -std=c17 -Wall -Wextra -Werror && "$work/doc" > "$work/answers" && diff "${1%.c}.want" "$work/answers"
}

check "the library installs" installs
check "the library shows the functions of the header and no others" shows_only_the_header
check "a C program with pkg-config: the rules engine answers as its README says" rules_answer
check "a C++ program" is_cpp_safe
check "a CMake project" is_found_by_cmake
check "programs of docs/embedding.md are found" extract_programs
for program in "$work"/doc*.c; do check "documented program $(basename "$program")" documented "$program"; done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
