# Compares two files of `name<TAB>instructions`, the baseline and what was counted now; lines that begin with # are none.
/^#/ || NF < 2 { next }
FNR == NR { base[$1] = $2; next }
{
    counted[$1] = 1
    if (!($1 in base)) { printf "%-18s %12d  FAIL: has no baseline\n", $1, $2; bad = 1; next }
    ratio = $2 / base[$1]
    if (ratio > 1.05) verdict = "FAIL: GREW; find out why, or record it on purpose: ./bt test --record-costs"
    else if (ratio < 0.95) verdict = "FAIL: shrank; record the new baseline: ./bt test --record-costs"
    else verdict = "ok"
    if (verdict != "ok") bad = 1
    printf "%-18s %12d  %+6.1f %%  %s\n", $1, $2, (ratio - 1) * 100, verdict
}
END {
    for (name in base) if (!(name in counted)) { printf "%-18s FAIL: was not counted\n", name; bad = 1 }
    exit bad
}
