# See bench/chart. Reads workload, metric, unit, peer, median; rows keep the order of the file.
BEGIN {
    peers = split("erl-ref erl lua54 luajit-joff ruby mruby node-jitless luajit node ruby-yjit go c", known, " ") # order of the legend
    for (i = 1; i <= peers; i++) listed[known[i]] = 1
    group["erl-ref"] = group["erl"] = "erlang"
    group["lua54"] = group["luajit-joff"] = group["ruby"] = group["mruby"] = group["node-jitless"] = "interpreter"
    group["luajit"] = group["node"] = group["ruby-yjit"] = "jit"
    group["go"] = group["c"] = "native"
    # Shapes tell the peers of a group apart.
    shape["erl-ref"] = "disc"; shape["erl"] = "square"
    shape["lua54"] = "disc"; shape["luajit-joff"] = "square"; shape["ruby"] = "diamond"; shape["mruby"] = "up"; shape["node-jitless"] = "down"
    shape["luajit"] = "square"; shape["node"] = "down"; shape["ruby-yjit"] = "diamond"
    shape["go"] = "disc"; shape["c"] = "square"
}
/^#/ || $1 == "workload" || NF < 5 { next }
{
    metric = $2
    weak = sub(/_(coop|direct|mut|raw)$/, "", metric) # the peer gives fewer guarantees
    sub(/_serial$/, "", metric)
    peer = $4 == "bt" ? "beamtalk" : $4
    row = $1 "\t" metric
    if (!(row in seen)) { seen[row] = ++rows; order[rows] = row }
    if (peer == "beamtalk") { if ($2 == metric) { ours[row] = $5; unit[row] = $3 } }
    else if ($5 > 0) {
        count[row]++
        value[row, count[row]] = $5; who[row, count[row]] = peer; weaker[row, count[row]] = weak; called[row, count[row]] = $2
        present[peer] = 1
        if (!(peer in listed)) { listed[peer] = 1; known[++peers] = peer }
    }
}
function log10(x) { return log(x) / log(10) }
function floor(x,   i) { i = int(x); return x < i ? i - 1 : i }
function escaped(text) { gsub(/&/, "\\&amp;", text); gsub(/</, "\\&lt;", text); gsub(/>/, "\\&gt;", text); return text }
function x_of(ratio) { return left + (log10(ratio) - low) / (high - low) * width }
function short(v) { return v >= 100 ? sprintf("%.0f", v) : sprintf("%.3g", v) }
function mark(x, y, peer, weak, title,   s, k, d) {
    s = peer in shape ? shape[peer] : "disc"
    k = (peer in group ? group[peer] : "other") (weak ? " weak" : "")
    printf "<g class=\"%s\"><title>%s</title>", k, escaped(title)
    if (s == "disc") printf "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4.5\"/>", x, y
    else if (s == "square") printf "<rect x=\"%.1f\" y=\"%.1f\" width=\"8\" height=\"8\"/>", x - 4, y - 4
    else {
        d = s == "diamond" ? "M%.1f %.1fm0 -5.5l5.5 5.5l-5.5 5.5l-5.5 -5.5z" : s == "up" ? "M%.1f %.1fm0 -5l5 9h-10z" : "M%.1f %.1fm0 5l5 -9h-10z"
        printf "<path d=\"" d "\"/>", x, y
    }
    print "</g>"
}
function text(x, y, class, anchor, s) {
    printf "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\" text-anchor=\"%s\">%s</text>\n", x, y, class, anchor, escaped(s)
}
function colours(paper, ink, faint, grid, band, erlang, interpreter, jit, native, other) {
    printf ".paper { fill: %s } text { fill: %s } .faint { fill: %s } .grid { stroke: %s } .one { stroke: %s } .band { fill: %s }\n", paper, ink, faint, grid, ink, band
    printf ".erlang { fill: %s; stroke: %s } .interpreter { fill: %s; stroke: %s } .jit { fill: %s; stroke: %s }\n", erlang, erlang, interpreter, interpreter, jit, jit
    printf ".native { fill: %s; stroke: %s } .other { fill: %s; stroke: %s } .weak { fill: %s }\n", native, native, other, other, paper
}
function legend(   i, x, p) {
    x = 20
    for (i = 1; i <= peers; i++) {
        p = known[i]
        if (!(p in present)) continue
        mark(x, 48, p, 0, p)
        text(x + 9, 52, "small", "start", p)
        x += 22 + 7 * length(p)
    }
    text(952, 26, "faint", "end", "hollow: the peer gives fewer guarantees")
}
END {
    drawn = 0
    for (i = 1; i <= rows; i++) {
        row = order[i]
        if (!(row in ours) || !count[row] || ours[row] <= 0) continue
        drawn++
        larger[row] = row ~ /\t(ratio|klines_per_s)$/
        for (k = 1; k <= count[row]; k++) {
            r = larger[row] ? value[row, k] / ours[row] : ours[row] / value[row, k]
            ratio[row, k] = r
            if (drawn == 1 && k == 1) { low = high = log10(r) }
            if (log10(r) < low) low = log10(r)
            if (log10(r) > high) high = log10(r)
        }
    }
    if (!drawn) { print "chart: no workload with a figure of ours and one of a peer" > "/dev/stderr"; exit 1 }
    low = floor(low); high = -floor(-high)
    if (low > -1) low = -1
    if (high < 1) high = 1
    left = 226; width = 604; top = 92; step = 22
    bottom = top + drawn * step
    printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 960 %d\" width=\"960\" height=\"%d\" role=\"img\">\n", bottom + 44, bottom + 44
    print "<title>Beamtalk against its peers: ratios of running times</title>"
    print "<style>"
    print "text { font: 13px system-ui, sans-serif } .small { font-size: 12px } .faint { font-size: 12px } .head { font-size: 16px; font-weight: 600 }"
    print "g { stroke-width: 1.5; fill-opacity: .85 } .one { stroke-width: 1.5 }"
    colours("#fff", "#1f2328", "#6b7280", "#e2e5e9", "#f6f7f9", "#b4530a", "#1d5fbf", "#8a3ab9", "#23783c", "#555b66")
    print "@media (prefers-color-scheme: dark) {"
    colours("#12161c", "#e6e9ee", "#9aa4b2", "#2b323c", "#181d24", "#f2a14a", "#6fa8ff", "#d08bf0", "#6cc985", "#a3abb8")
    print "}"
    print "</style>"
    printf "<rect width=\"100%%\" height=\"100%%\" class=\"paper\"/>\n"
    text(14, 26, "head", "start", "Time of Beamtalk over time of each peer")
    legend()
    n = 0
    for (i = 1; i <= rows; i++) if ((order[i] in ours) && count[order[i]] && ours[order[i]] > 0 && ++n % 2)
        printf "<rect class=\"band\" x=\"8\" y=\"%d\" width=\"944\" height=\"%d\"/>\n", top + (n - 1) * step, step
    for (d = low; d <= high; d++) {
        x = x_of(10 ^ d)
        printf "<line class=\"%s\" x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\"/>\n", d == 0 ? "one" : "grid", x, top, x, bottom
        text(x, top - 8, "faint", "middle", sprintf("%g", 10 ^ d))
        text(x, bottom + 17, "faint", "middle", sprintf("%g", 10 ^ d))
    }
    text(x_of(1) - 10, bottom + 36, "faint", "end", "\342\206\220 Beamtalk is faster")
    text(x_of(1) + 10, bottom + 36, "faint", "start", "the peer is faster \342\206\222")
    text(952, top - 8, "faint", "end", "Beamtalk")
    n = 0
    for (i = 1; i <= rows; i++) {
        row = order[i]
        if (!(row in ours) || !count[row] || ours[row] <= 0) continue
        y = top + n++ * step + step / 2
        split(row, part, "\t")
        printf "<g class=\"row\">\n"
        text(14, y + 4, "small", "start", part[1])
        text(left - 12, y + 4, "faint", "end", part[2] == "ms" || part[2] ~ /^ns_per_(op|iter|step|hop)$/ ? "" : part[2])
        text(952, y + 4, "small", "end", short(ours[row]) " " unit[row])
        for (k = 1; k <= count[row]; k++)
            mark(x_of(ratio[row, k]), y, who[row, k], weaker[row, k], who[row, k] " " called[row, k] ": " short(value[row, k]) " " unit[row] ", ratio " short(ratio[row, k]))
        print "</g>"
    }
    print "</svg>"
}
