#!/usr/bin/env bash
# House rules that a machine can check: includes point down only, files are formatted, class-variable storage has one home.
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 2
passed=0
failed=0
check() {
    local what=$1 found=$2
    if [ -z "$found" ]; then passed=$((passed + 1)); else failed=$((failed + 1)); printf 'FAIL %s\n%s\n' "$what" "$found"; fi
}
check "ir/ includes vm/bytecode/ and ir/ only" "$(grep -nE '#include "' ir/*.[ch] | grep -vE '"(ir/|vm/bytecode/)' )"
check "compiler/ includes ir/, vm/bytecode/ and compiler/ only" "$(grep -nE '#include "' compiler/*.[ch] | grep -vE '"(compiler/|ir/|vm/bytecode/)')"
check "vm/ core includes neither compiler/ nor ir/" "$(grep -nE '#include "(compiler|ir)/' vm/*.[ch] vm/bytecode/*.[ch] vm/prims/*.[ch] 2>/dev/null)"
check "only vm/class_vars touches the class-variable home" \
    "$(grep -nE 'class_vars\.(live|entry|committed|view|layout)' vm/*.[ch] vm/*.inc vm/prims/*.[ch] vm/api/*.[ch] vm/cli/*.[ch] 2>/dev/null | grep -vE '^vm/(class_vars\.[ch]|gc\.c):' )"
check "an unwinding stops in vm/unwind.c only, at a handler that restores (vm/bytecode/check.c)" \
    "$(grep -nE '(->|\.)handler\b' vm/*.[ch] vm/*.inc vm/prims/*.[ch] | grep -v '^vm/unwind\.c:')"
check "primitives raise and do not catch: no new ones that drop an error" \
    "$(grep -nE 'exception = V_HOLE' vm/prims/*.c | grep -vE '^vm/prims/prim_(actor|class_state)\.c:')"
check "what belongs to a VM comes from its memory (vm/bytecode/memory.h)" \
    "$(grep -nE '\b((m|c|re)alloc|strn?dup|mi_[a-z_]+|own_[a-z]*alloc) ?\(' vm/*.[ch] vm/prims/*.[ch] vm/api/*.[ch])"
check "no setjmp" "$(grep -nE '\b(setjmp|longjmp)\b' vm/*.[ch] vm/*/*.[ch] compiler/*.[ch] ir/*.[ch])"
if command -v clang-format >/dev/null; then
    check "formatted" "$(clang-format --dry-run -Werror $(git ls-files '*.c' '*.h') 2>&1 | grep -E 'error:' | cut -d: -f1 | sort | uniq -c | head -n 20)"
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
