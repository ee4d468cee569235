# Sourced by ./bt: builds the variants and runs every test program. Counts are added up; the last line is `N passed, N failed`.
# shellcheck shell=bash disable=SC2154

total_passed=0
total_failed=0

# count LABEL OUTPUT-FILE STATUS: reads `N passed, N failed` or Check's summary from the output.
count() {
    local label=$1 output=$2 status=$3 line passed=0 failed=0 checks failures errors
    line=$(grep -aE '^[0-9]+ passed, [0-9]+ failed' "$output" | tail -n 1 || true)
    if [ -n "$line" ]; then
        passed=${line%% *}
        failed=$(echo "$line" | sed -E 's/.*, ([0-9]+) failed.*/\1/')
    elif line=$(grep -aE '^[0-9]+%: Checks: ' "$output" | tail -n 1 || true) && [ -n "$line" ]; then
        checks=$(echo "$line" | sed -E 's/.*Checks: ([0-9]+).*/\1/')
        failures=$(echo "$line" | sed -E 's/.*Failures: ([0-9]+).*/\1/')
        errors=$(echo "$line" | sed -E 's/.*Errors: ([0-9]+).*/\1/')
        failed=$((failures + errors))
        passed=$((checks - failed))
    fi
    if [ "$status" != 0 ] && [ "$failed" = 0 ]; then failed=1; fi
    if [ "$status" = 0 ] && [ "$passed" = 0 ] && [ "$failed" = 0 ]; then failed=1; fi
    total_passed=$((total_passed + passed))
    total_failed=$((total_failed + failed))
    printf '  %-28s %5d passed %4d failed\n' "$label" "$passed" "$failed"
    if [ "$failed" != 0 ]; then
        grep -aE 'FAIL|Sanitizer|runtime error|:[FE]:' "$output" | head -n 20 || true
        [ "$status" = 0 ] || tail -n 15 "$output"
    fi
}

# one LABEL COMMAND...
one() {
    local label=$1 output status=0
    shift
    output=$(mktemp)
    (cd "$scratch" && timeout "${limit:-900}" "$@") >"$output" 2>&1 || status=$? # tests that write files write them there
    count "$label" "$output" "$status"
    rm -f "$output"
}

# programs DIR LABEL [NAME-PATTERN]
programs() {
    local dir=$1 label=$2 pattern=${3:-.} name
    for name in $(grep -E "$pattern" "$dir/test_programs.txt"); do
        one "$label $name" "$dir/$name"
    done
}

run_tests() {
    local long=0 tenth soak=8
    if [ "${1:-}" = --record-costs ]; then
        build "$cd_root/build" beamtalk
        exec bash "$cd_root/tests/cost/guard.sh" "$cd_root/build/beamtalk" --record
    fi
    [ "${1:-}" = --long ] && long=1 && soak=1200
    scratch=$(mktemp -d)
    trap 'rm -rf "$scratch"' EXIT
    cd "$cd_root"
    tenth=$(git rev-parse HEAD 2>/dev/null | cut -c1-8 || echo 0)
    tenth=$((16#${tenth:-0} % 10))
    export CK_VERBOSITY=normal

    echo "house rules"
    one "layers and format" bash "$cd_root/tests/house.sh"
    echo "release"
    build "$cd_root/build" tests
    programs "$cd_root/build" release
    one "release command line" bash "$cd_root/tests/cli/run.sh" "$cd_root/build/beamtalk"
    one "release shared library" bash "$cd_root/tests/library/run.sh" "$cd_root/build/beamtalk"
    one "release library" bash "$cd_root/tests/lang/run.sh" "$cd_root/build/beamtalk"
    one "release hostile arguments" bash "$cd_root/tests/stdlib/run.sh" "$cd_root/build/beamtalk"
    one "release live surfaces" bash "$cd_root/tests/repl/run.sh" "$cd_root/build/beamtalk"
    kills=300
    if [ $long = 1 ]; then kills=10000; fi
    one "release class variables" bash "$cd_root/tests/classvars/run.sh" "$cd_root/build/beamtalk" $kills
    one "release processes" bash "$cd_root/tests/processes/run.sh" "$cd_root/build/beamtalk"
    limit=1500 one "release soak" env SOAK_SECONDS=$soak "$cd_root/build/beamtalk" run "$cd_root/tests/processes/soak.bt"
    allocations=30
    if [ $long = 1 ]; then allocations=1000000; fi
    limit=3000 one "release failing allocations" bash "$cd_root/tests/alloc_fail/run.sh" "$cd_root/build/beamtalk" $allocations
    one "clang-tidy" bash "$cd_root/tests/tidy.sh" "$cd_root/build"
    one "release worked examples of IR" bash "$cd_root/tests/ir_docs/run.sh" "$cd_root/build/beamtalk"
    one "release differences of IR" bash "$cd_root/tests/ir_diff/run.sh" "$cd_root/build/beamtalk"
    one "release cost of the verifier" bash "$cd_root/tests/cost/run.sh" "$cd_root/build/beamtalk"
    one "benchmark scripts" bash "$cd_root/tests/bench/run.sh" "$cd_root/build/beamtalk"
    one "release instruction guard" bash "$cd_root/tests/cost/guard.sh" "$cd_root/build/beamtalk"
    one "release growth of costs" bash "$cd_root/tests/growth/growth.sh" "$cd_root/build/beamtalk"
    if [ $long = 1 ]; then one "release growth, four times the size" env GROWTH_SCALE=4 bash "$cd_root/tests/growth/growth.sh" "$cd_root/build/beamtalk" collections depth; fi
    one "release matrix of constructs" "$cd_root/build/test_property" --matrix
    one "release programs, three callers" "$cd_root/build/test_property" --count 500 --callers 3 --schedule 7
    if [ $long = 1 ]; then
        one "release 125,000 programs" "$cd_root/build/test_property" --count 125000 --table
        one "release 20,000 programs, three callers" "$cd_root/build/test_property" --count 20000 --seed 2 --callers 3
        one "release planted faults" bash "$cd_root/tests/property/faults.sh" "$scratch"
    fi
    if [ $long = 1 ]; then limit=3000 one "release allocator, 5,000 failures" env ALLOCATOR_ROUNDS=5000 "$cd_root/build/test_allocator"; fi
    if [ $long = 1 ]; then limit=1500 one "release embedding, a million texts" env EMBED_SECONDS=60 EMBED_TEXTS=1000000 "$cd_root/build/test_embed_soak"; fi
    if [ $long = 1 ]; then one "release 50,000 mutants" "$cd_root/build/test_mutation" 50000 7; fi
    echo "ASan and UBSan"
    build "$cd_root/build-asan" tests -DCMAKE_BUILD_TYPE=Debug -DBT_SANITIZE=address -DBT_STRESS=ON
    export ASAN_OPTIONS=detect_leaks=0 CK_FORK=no BT_TEST_SCALE=0.001
    programs "$cd_root/build-asan" asan
    for name in host value session reentry event_loop allocator; do
        one "asan leaks of $name" env ASAN_OPTIONS=detect_leaks=1 "$cd_root/build-asan/test_$name"
    done
    if [ $long = 1 ]; then limit=2400 one "asan embedding, 10 minutes" env EMBED_SECONDS=600 ASAN_OPTIONS=detect_leaks=1 "$cd_root/build-asan/test_embed_soak"; fi
    one "asan command line" bash "$cd_root/tests/cli/run.sh" "$cd_root/build-asan/beamtalk"
    one "asan library" bash "$cd_root/tests/lang/run.sh" "$cd_root/build-asan/beamtalk"
    one "asan hostile arguments" bash "$cd_root/tests/stdlib/run.sh" "$cd_root/build-asan/beamtalk"
    one "asan live surfaces" bash "$cd_root/tests/repl/run.sh" "$cd_root/build-asan/beamtalk"
    one "asan class variables" bash "$cd_root/tests/classvars/run.sh" "$cd_root/build-asan/beamtalk"
    one "asan processes" bash "$cd_root/tests/processes/run.sh" "$cd_root/build-asan/beamtalk"
    echo "TSan, processes"
    build "$cd_root/build-tsan" tests -DCMAKE_BUILD_TYPE=Debug -DBT_SANITIZE=thread
    programs "$cd_root/build-tsan" tsan 'sched|vectors|reentry|event_loop|embed_soak|allocator|lending'
    if [ $long = 1 ]; then limit=2400 one "tsan embedding, 10 minutes" env EMBED_SECONDS=600 "$cd_root/build-tsan/test_embed_soak"; fi
    if [ $long = 1 ]; then one "tsan soak" bash -c 'SOAK_SECONDS=60 "$1/build-tsan/beamtalk" run "$1/tests/processes/soak.bt" 2>&1 | grep -v resident >"$2"; ! grep -q "WARNING: ThreadSanitizer" "$2" && echo "1 passed, 0 failed"' - "$cd_root" "$scratch/tsan-soak"; fi
    one "tsan class variables" bash "$cd_root/tests/classvars/run.sh" "$cd_root/build-tsan/beamtalk" 100
    unset CK_FORK
    echo "stress: collection at every reservation, one reduction a slice"
    build "$cd_root/build-stress" tests -DBT_STRESS=ON
    if [ $long = 1 ]; then tenth=all; fi
    one "gc stress vectors" env BT_GC_STRESS=1 BT_TEST_PART=$tenth "$cd_root/build-stress/test_vectors"
    one "yield stress vectors" env BT_YIELD_STRESS=1 BT_TEST_PART=$tenth "$cd_root/build-stress/test_vectors"
    one "gc stress answers" env BT_GC_STRESS=1 BT_TEST_PART=$tenth "$cd_root/build-stress/test_answers"
    one "gc stress class variables" env BT_GC_STRESS=1 bash "$cd_root/tests/classvars/run.sh" "$cd_root/build-stress/beamtalk" 20 9
    one "yield stress class variables" env BT_YIELD_STRESS=1 bash "$cd_root/tests/classvars/run.sh" "$cd_root/build-stress/beamtalk" 100 3
    one "gc stress programs" env BT_GC_STRESS=1 "$cd_root/build-stress/test_property" --callers 2 --seed 3
    unset BT_TEST_SCALE

    echo "$total_passed passed, $total_failed failed"
    [ "$total_failed" = 0 ]
}
