# Part of run.sh: the REPL without a terminal, and eval.
# shellcheck shell=bash disable=SC2154

# session NAME STATUS STDOUT-PATTERN STDERR-PATTERN INPUT
session() { expect "repl: $1" "$2" "$3" "$4" bash -c 'cd "$2" && printf "%b" "$3" | HOME=/nonexistent "$1" repl' - "$binary" "$work" "$5"; }

session "plain lines, no prompts" 0 '^7~42~$' '' '3 + 4\nx := 42\n'
session "errors go to standard error, the session goes on" 0 '^2~$' "^Error: RuntimeError: Integer does not understand 'foo'~Hint: .*~Error: Undefined variable: y~Line: 1~$" '3 foo\ny\n2\n'
session "the last line needs no end" 0 '^9~$' '' '4 + 5'
session "an unfinished input at the end" 0 '' 'Error: Expected .]. to close block' '[1 +'
session "exit ends it, status 0" 0 '^Goodbye!~$' '' ':exit\n1\n'
session "aliases of exit" 0 '^Goodbye!~$' '' ':q\n1\n'
session "a program's own end" 7 '^1~$' '' '1\nProgram exit: 7\n2\n'
session "a pasted class with blank lines" 0 '^Pasted~3~$' '' 'Value subclass: Pasted\n  field: x = 3\n\n  one => 1\n\n  x2 => self.x\nPasted new x2\n'
session "a blank line ends an open class" 0 '^Open~Open~$' '' 'Object subclass: Open\n\nOpen\n'
session "comments say nothing" 0 '^1~$' '' '// nothing\n\n1\n'
session "a documented class" 0 '^Told~for nothing~$' '' '/// for nothing\nObject subclass: Told\n  m => 1\nTold doc\n'
session "output, then a fresh line, then the value" 0 '^text~nil~$' '' 'Console print: "text"\n'
session "warnings before the value" 0 '^false~$' '^• warning: Unresolved class `Nowhere`~$' 'false ifTrue: [Nowhere new]\n'
session "replaced methods act at the next send" 0 '^Alive~Actor\(Alive, [0-9.]+\)~1~Alive>>m~2~' '' 'Actor subclass: Alive\n  m => 1\na := Alive spawn\na m\nAlive >> m => 2\na m\n'
session "NUL bytes and bytes that are no text" 0 '^1~$' 'Error: ' '\0377\0376 + \0001\n1\n'
expect "repl: options of networks are refused" 2 '' "unknown option '--port'" "$binary" repl --port 1
expect "repl: takes no operands" 2 '' 'takes no operands' "$binary" repl x
expect "repl: --load" 0 '^Loaded: Entry~ran~nil~$' '' bash -c 'echo "Entry run" | "$1" repl --load "$2/entry.bt"' - "$binary" "$work"
expect "repl: --load of what does not load goes on" 0 '^1~$' 'Error: .*broken.bt:' bash -c 'echo 1 | "$1" repl --load "$2/broken.bt"' - "$binary" "$work"

expect "eval: loads a directory" 0 '^6~$' '' bash -c 'mkdir -p "$2/dir" && printf "B subclass: A\n" >"$2/dir/a.bt" && printf "Object subclass: B\n  n => 6\n" >"$2/dir/b.bt" && "$1" eval --load "$2/dir" "A new n"' - "$binary" "$work"
expect "eval: a fresh line before the value" 0 '^text~nil~$' '' "$binary" eval 'Console print: "text"'
expect "eval: of standard input" 0 '^3~$' '' bash -c 'printf "x := 1\nx + 2" | "$1" eval -p -' - "$binary"
expect "eval: needs a text" 2 '' 'needs a source text' "$binary" eval
expect "eval: --load needs a path" 2 '' 'needs a path' "$binary" eval 1 --load
expect "eval: definitions show their name" 0 '^Fresh~$' '' "$binary" eval 'Object subclass: Fresh'
expect "eval: session of its own" 0 '^true~$' '' "$binary" eval 'Session current notNil'
