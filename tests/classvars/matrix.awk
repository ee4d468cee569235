# Makes the matrix: every site of sites.txt, every action, both ways to act (in the text itself, by a self-send), three spellings of the
# class (sealed, open, and the acting methods overridden in a subclass). Writes the program to PROGRAM and what it must print to WANTED.
# The rules are those of ADR 0130, sections 4 and 5; n is 0 before each call.

function action_text(action, way) {
    if (way == "sends") return SEND[action]
    return TEXT[action]
}
# As statements of a method: the value in r, unless the action leaves.
function as_statements(text, action,    n, part, last) {
    if (action !~ /^(read|write)$/) return text
    n = split(text, part, /\. /)
    last = "r := (" part[n] ")"
    return n == 1 ? last : part[1] ". " last
}

# What the call answers (or !kind), and n afterwards.
function expect(rule, action, way, sees,    adds, value) {
    adds = action ~ /^(write|writeAndRaise|writeAndReturn)$/ ? 1 : 0
    value = sees + (action == "write" ? 1 : 0)
    raises = action ~ /[rR]aise/
    returns = action ~ /[rR]eturn/
    unreachable = adds || (action == "read" && way == "sends")
    if (rule == "home") {
        if (raises) return "!user_error\t0"
        if (returns) return "#out\t" sees + adds
        return "#(" value ", " value ")\t" value
    }
    if (rule == "region") {
        if (raises) return "#(#user_error, " sees ")\t" sees
        return expect("home", action, way, sees)
    }
    if (rule == "declined") { # restored before the cleanup sees it
        if (raises) return "#(#user_error, " sees ", " sees ")\t" sees
        if (returns) return "#out\t" sees + adds
        return "#(" value ", " value ", " value ")\t" value
    }
    if (rule == "ensured") { # no boundary: the cleanup sees the live value
        if (raises) return "#(#user_error, " sees + adds ", " sees ")\t" sees
        return expect("declined", action, way, sees)
    }
    if (rule == "ensure") {
        if (raises) return "!user_error\t0"
        if (returns) return "#out\t" sees + adds + 100
        return "#(" value ", " value + 100 ")\t" value + 100
    }
    if (rule == "later") { # the home of the ^ is gone: nothing stops it, and it keeps what was written
        if (returns) return "!erlang_throw\t" sees + adds
        return expect("home", action, way, sees)
    }
    if (rule == "idle") {
        if (unreachable) return "!class_state_unreachable\t30"
        if (raises) return "!user_error\t30"
        if (returns) return "!erlang_throw\t30"
        return sees "\t30"
    }
    if (rule == "carried") {
        if (unreachable) return "!class_state_unreachable\t0"
        if (raises) return "!user_error\t0"
        if (returns) return "#out\t" sees
        return "#(" sees ", " sees ")\t" sees
    }
    if (rule == "carried and caught") {
        if (unreachable) return "#(#class_state_unreachable, " sees ")\t" sees
        if (raises) return "#(#user_error, " sees ")\t" sees
        return expect("carried", action, way, sees)
    }
    if (rule == "actor") { # a ^ does not leave an actor's message
        if (unreachable) return "!class_state_unreachable\t0"
        if (raises) return "!user_error\t0"
        if (returns) return "!erlang_throw\t0"
        return "#(" sees ", " sees ")\t" sees
    }
    if (rule == "asynchronous") {
        if (unreachable) return "#class_state_unreachable\t11"
        if (raises) return "#user_error\t11"
        if (returns) return "nil\t11"
        return sees "\t11"
    }
    if (rule == "view") {
        if (adds) return "!class_state_read_only\t" sees
        if (raises) return "!user_error\t" sees
        if (returns) return "#out\t" sees
        return sees "\t" sees
    }
    return "no rule " rule
}

function replaced(text, what, with,    at) {
    while ((at = index(text, what)) > 0) text = substr(text, 1, at - 1) with substr(text, at + length(what))
    return text
}

function hooks(right) {
    if (!right) return "  class get => #wrong\n  class up => #wrong\n  class fail => #wrong\n  class upFail => #wrong\n"
    return "  class get => self.n\n  class up => self.n := self.n + 1\n  class fail => self error: \"boom\"\n" \
           "  class upFail =>\n    self up\n    self fail\n"
}

function cell(spelling, action, way,    name, text, body, vars, first, label, answer, home) {
    count++
    if (count % PART != 0) return
    name = "M" count
    home = spelling == "override" && !own ? name "Base" : name
    text = action_text(action, way)
    body = replaced(replaced(replaced(methods, "@R", as_statements(text, action)), "@A", text), "@N", home)
    vars = "  classState: n = 0\n  classState: kept = nil\n"
    first = "  class n => self.n\n  class n: v => self.n := v\n"
    if (spelling == "override") {
        printf "%s subclass: %sBase\n%s%s%s%s\n", parent, name, vars, first, hooks(0), own ? "" : body > PROGRAM
        printf "%sBase subclass: %s\n%s%s%s\n", name, name, vars, hooks(1), own ? body : "" > PROGRAM
    } else {
        printf "%s%s subclass: %s\n%s%s%s%s\n", spelling == "sealed" ? "sealed " : "", parent, name, vars, first, hooks(1), body > PROGRAM
    }
    label = spelling ", " site ": " action ", " way
    calls = calls "Cell name: \"" label "\" class: " name " do: " replaced(call, "@C", name) "\n"
    print label "\t" expect(rule, action, way, sees) > WANTED
}

function site_done(    s, a, w) {
    if (site == "") return
    for (s = 1; s <= 3; s++)
        for (a = 1; a <= 6; a++)
            for (w = 1; w <= 2; w++)
                if (!(WAYS[w] == "sends" && ACTIONS[a] == "return")) cell(SPELLINGS[s], ACTIONS[a], WAYS[w])
    site = ""
}

BEGIN {
    split("sealed open override", SPELLINGS, " ")
    split("read write raise writeAndRaise return writeAndReturn", ACTIONS, " ")
    split("lexically sends", WAYS, " ")
    TEXT["read"] = "self.n"; SEND["read"] = "self get"
    TEXT["write"] = "self.n := self.n + 1"; SEND["write"] = "self up"
    TEXT["raise"] = "self error: \"boom\""; SEND["raise"] = "self fail"
    TEXT["writeAndRaise"] = "self.n := self.n + 1. self error: \"boom\""; SEND["writeAndRaise"] = "self upFail"
    TEXT["return"] = "^#out"
    TEXT["writeAndReturn"] = "self.n := self.n + 1. ^#out"; SEND["writeAndReturn"] = "self up. ^#out"
    if (!PART) PART = 1
}
/^#/ { next }
/^site / { site_done(); site = substr($0, 6); rule = call = methods = ""; parent = "Object"; own = 0; next }
/^rule / { rule = substr($0, 6); sees = rule; sub(/.* /, "", sees); sub(/ [0-9]+$/, "", rule); next }
/^super / { parent = $2; next }
/^own$/ { own = 1; next }
/^call / { call = substr($0, 6); next }
/^  / { methods = methods $0 "\n" }
END {
    site_done()
    printf "%s", calls > PROGRAM
}
