# Sourced: counts instructions (callgrind) so that the same program gives the same number again: one scheduler, a fixed seed, the allocator
# and the plain string functions of libc. A program marks what is counted by reading the clock (`Time nowUs`).
# shellcheck shell=bash
cost_folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cc -O1 -shared -fPIC -o "$scratch/plain_alloc.so" "$cost_folder/plain_alloc.c"

# counts BINARY PROGRAM [ARGUMENT...]: one number a line, the instructions before the first reading of the clock, between it and the
# second, and so on to the end. What the program prints goes to stderr; nothing is printed if it fails.
counts() {
    local binary=$1 file
    shift
    file=$(mktemp -p "$scratch")
    env LD_PRELOAD="$scratch/plain_alloc.so" GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX_Fast_Unaligned_Load,-AVX2,-AVX512F,-AVX512VL,-ERMS,-FSRM \
        valgrind --quiet --tool=callgrind --combine-dumps=yes --dump-before=prim_time_now_us --callgrind-out-file="$file" \
        "$binary" run --seed 1 "$@" 1>&2 || return 1
    sed -n 's/^totals: //p' "$file"
}
