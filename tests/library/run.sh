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
functions_of_the_header() {
    grep -oE '\bbt_[a-z0-9_]+\(' "$source_dir/vm/include/beamtalk.h" | tr -d '(' | sort -u > "$work/declared"
    [ "$(wc -l < "$work/declared")" -gt 60 ]
}
shows_only_the_header() {
    nm -D --defined-only "$work/prefix/lib/libbeamtalk.so" | awk '{print $3}' | sort > "$work/shown"
    diff "$work/declared" "$work/shown"
}
archive_shows_only_the_header() {
    nm -g --defined-only "$work/prefix/lib/libbeamtalk.a" | awk 'NF == 3 {print $3}' | sort > "$work/shown"
    diff "$work/declared" "$work/shown"
}
# Each has its entry: `### `bt_...`` in the reference, or stands in the heading of a group.
all_documented() {
    grep -E '^### ' "$source_dir/docs/embedding.md" | grep -oE '\bbt_[a-z0-9_]+' | sort > "$work/described"
    diff "$work/declared" "$work/described"
}
all_tested_for_misuse() {
    local name missing=0
    while read -r name; do
        grep -qE "\\b$name\\b" "$source_dir/tests/unit/test_misuse.c" || { echo "$name"; missing=1; }
    done < "$work/declared"
    return "$missing"
}
compiles() { # compiles COMPILER SOURCE OUTPUT [OPTIONS...]: with the options of pkg-config only
    local flags
    flags=$(PKG_CONFIG_PATH=$work/prefix/lib/pkgconfig pkg-config --cflags --libs beamtalk) || return 1
    # shellcheck disable=SC2086
    "$1" "${@:4}" "$2" $flags -o "$3"
}
answers_as_its_readme() { # answers_as_its_readme DIRECTORY PROGRAM: what stands behind `It prints`
    local of=$source_dir/examples/embed/$1
    compiles cc "$of/$2.c" "$work/$2" -std=c17 -Wall -Wextra -Werror || return 1
    (cd "$work" && timeout 120 "$work/$2") > "$work/answers" || return 1
    diff "$work/answers" <(sed -n '/^It prints/,$s/^    //p' "$of/README.md")
}
# Where there is no shared library, pkg-config --static leads to the archive.
links_statically() {
    cp -r "$work/prefix" "$work/static" && rm "$work"/static/lib/libbeamtalk.so* || return 1
    local flags
    flags=$(PKG_CONFIG_PATH=$work/static/lib/pkgconfig pkg-config --static --cflags --libs beamtalk) || return 1
    # shellcheck disable=SC2086
    cc "$source_dir/examples/embed/rules/rules.c" $flags -o "$work/static_rules" || return 1
    ! ldd "$work/static_rules" | grep -q libbeamtalk && "$work/static_rules" | grep -q '^Grace: 10%$'
}
# An image of `beamtalk build`, loaded from memory; a damaged one is refused.
loads_images() {
    mkdir -p "$work/package/src"
    printf '[package]\nname = "shapes"\nversion = "0.1.0"\n' > "$work/package/beamtalk.toml"
    printf 'Object subclass: Shape\n  class corners => 4\n' > "$work/package/src/Shape.bt"
    (cd "$work/package" && "$build/beamtalk" build) || return 1
    compiles cc "$source_dir/tests/library/load_image.c" "$work/load_image" -std=c17 -Wall -Wextra -Werror || return 1
    "$work/load_image" "$(find "$work/package" -name 'Shape.btimage')"
}
# Nobody asked for output: neither programs nor the library write to the host's descriptors.
is_silent() {
    compiles cc "$source_dir/tests/library/silent.c" "$work/silent" -std=c17 -Wall -Wextra -Werror || return 1
    "$work/silent" > "$work/silent.out" 2>&1 < /dev/null && [ ! -s "$work/silent.out" ] || { cat "$work/silent.out"; return 1; }
}
# Two connections at once: who waits holds up nobody else.
server_answers() {
    local port line
    PKG_CONFIG_PATH=$work/prefix/lib/pkgconfig pkg-config --exists beamtalk libuv || return 1
    # shellcheck disable=SC2046
    cc -std=c17 -D_GNU_SOURCE -Wall -Wextra -Werror "$source_dir/examples/embed/server/server.c" \
        $(PKG_CONFIG_PATH=$work/prefix/lib/pkgconfig pkg-config --cflags --libs beamtalk libuv) -o "$work/server" || return 1
    timeout 60 "$work/server" > "$work/server.out" 2>&1 &
    for _ in $(seq 100); do grep -q port "$work/server.out" && break; sleep 0.1; done
    port=$(grep -oE '[0-9]+' "$work/server.out") || return 1
    exec 3<> "/dev/tcp/127.0.0.1/$port" 4<> "/dev/tcp/127.0.0.1/$port" || return 1
    printf 'wait 1500\n' >&3
    printf 'put a 17\nget a\nget b\nfoo\n' >&4
    for _ in 1 2 3 4; do IFS= read -t 10 -r line <&4 && echo "$line"; done > "$work/answers"
    ! IFS= read -t 0.1 -r line <&3 || return 1
    IFS= read -t 10 -r line <&3 && echo "$line" >> "$work/answers"
    printf 'wait 9000\n' >&3
    printf 'stop\n' >&4
    wait $! || return 1
    exec 3>&- 4>&-
    printf 'ok\n17\nnothing\nerror: unknown command: foo\nwaited\n' | diff - "$work/answers"
}
is_cpp_safe() {
    printf '#include "beamtalk.h"\nint main() { bt_vm *vm = bt_vm_new(nullptr); bt_vm_free(vm); return vm ? 0 : 1; }\n' > "$work/a.cpp"
    compiles c++ "$work/a.cpp" "$work/a" -std=c++17 -Wall -Wextra -Werror && "$work/a"
}
is_found_by_cmake() {
    mkdir -p "$work/project"
    cp "$source_dir/examples/embed/rules/rules.c" "$work/project/"
    printf 'cmake_minimum_required(VERSION 3.20)\nproject(p C)\nfind_package(Beamtalk REQUIRED)\nadd_executable(rules rules.c)\ntarget_link_libraries(rules Beamtalk::beamtalk)\nadd_executable(static rules.c)\ntarget_link_libraries(static Beamtalk::static)\n' > "$work/project/CMakeLists.txt"
    cmake -S "$work/project" -B "$work/project/build" -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix" &&
        ninja -C "$work/project/build" && "$work/project/build/rules" | grep -q '^Grace: 10%$' &&
        "$work/project/build/static" | grep -q '^Grace: 10%$' && ! ldd "$work/project/build/static" | grep -q libbeamtalk
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
check "the header declares functions" functions_of_the_header
check "the library shows the functions of the header and no others" shows_only_the_header
check "so does the archive" archive_shows_only_the_header
check "docs/embedding.md describes every function of the header, and no others" all_documented
check "tests/unit/test_misuse.c misuses every function of the header" all_tested_for_misuse
check "a C program with pkg-config: the rules engine answers as its README says" answers_as_its_readme rules rules
check "a host of plugins contains each as its README says" answers_as_its_readme plugin plugins
check "a C program with pkg-config --static" links_statically
check "an image from memory" loads_images
check "no output that nobody asked for" is_silent
check "a libuv server on an ephemeral port hands requests to actors" server_answers
check "a C++ program" is_cpp_safe
check "a CMake project" is_found_by_cmake
check "programs of docs/embedding.md are found" extract_programs
for program in "$work"/doc*.c; do check "documented program $(basename "$program")" documented "$program"; done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
