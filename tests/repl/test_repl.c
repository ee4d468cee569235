/* The REPL on a pseudo-terminal: a newcomer's first ten minutes, editing, interrupts, and how it ends. */
#define _GNU_SOURCE
#include <check.h>
#include <dirent.h>
#include <libgen.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "tests/repl/pty.h"
#include "tests/unit/test_suite.h"

static char binary[4096], home[] = "/tmp/bt-repl-XXXXXX", home_variable[64], directory[4096];
static Pty *pty;

static void find_binary(void) {
    char self[4000];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    ck_assert_int_gt(n, 0);
    self[n] = 0;
    snprintf(binary, sizeof binary, "%s/beamtalk", dirname(self));
    snprintf(directory, sizeof directory, "%s/repl/scripts", TEST_DIR);
}

static void start_with(char *const *argv, bool colours) {
    char *environment[] = {home_variable,
                           (char *)"TERM=xterm",
                           (char *)"LANG=C.UTF-8",
                           (char *)"ASAN_OPTIONS=detect_leaks=0",
                           (char *)(colours ? "A=1" : "NO_COLOR=1"),
                           NULL};
    pty = pty_start(argv, environment, directory);
    ck_assert_ptr_nonnull(pty);
}

static void start(void) {
    char *argv[] = {binary, (char *)"repl", NULL};
    start_with(argv, false);
    ck_assert(pty_sees(pty, "Type :help for available commands, :exit to quit.\n\n> "));
}

static void setup(void) {
    strcpy(home, "/tmp/bt-repl-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(home));
    snprintf(home_variable, sizeof home_variable, "HOME=%s", home);
    find_binary();
}

static void teardown(void) {
    pty_free(pty);
    pty = NULL;
    char command[200];
    snprintf(command, sizeof command, "rm -rf %s", home);
    ck_assert_int_eq(system(command), 0);
}

#define SEES(text) ck_assert_msg(pty_sees(pty, text), "did not see: %s", text)

/* One input and what must stand on a line of its own behind it. */
static void says(const char *input, const char *answer) {
    char line[2000], wanted[2000];
    snprintf(line, sizeof line, "%s\r", input);
    snprintf(wanted, sizeof wanted, "\n%s\n", answer);
    pty_type(pty, line);
    SEES(wanted);
    SEES("> ");
}

/* The same for a part of a line. */
static void shows(const char *input, const char *part) {
    char line[2000];
    snprintf(line, sizeof line, "%s\r", input);
    pty_type(pty, line);
    SEES("\n");
    SEES(part);
    SEES("\n> ");
}

static void ends(int status) {
    ck_assert_int_eq(pty_end(pty), status);
    ck_assert(pty_is_sane(pty));
}

static void leave(void) {
    pty_type(pty, ":exit\r");
    SEES("Goodbye!\n");
    ends(0);
}

/* ---- the first ten minutes ---- */

START_TEST(arithmetic_and_classes) {
    start();
    says("3 + 4", "7");
    says("10 - 3", "7");
    says("2 + 3 * 4", "14");
    says("10 / 4", "2.5");
    says("42 class", "Integer");
    says("\"hello\" class", "String");
    says("true class", "True");
    says("3.14 class", "Float");
    says("nil class", "UndefinedObject");
    says("nil", "nil");
    leave();
}
END_TEST

START_TEST(texts_and_variables) {
    start();
    says("\"Hello, \" ++ \"Beamtalk!\"", "Hello, Beamtalk!");
    says("\"I am \" ++ 25 printString ++ \" years old\"", "I am 25 years old");
    says("-42 abs class", "Integer");
    says("x := 42", "42");
    says("y := x + 10", "52");
    says("name := \"Alice\"", "Alice");
    says("\"Hello, {name}!\"", "Hello, Alice!");
    says("\"2 + 2 = {2 + 2}\"", "2 + 2 = 4");
    says("\"\\{name\\}\"", "{name}");
    says(":bindings", "name\nx\ny");
    says(":clear", "Bindings cleared.");
    says("x", "Error: Undefined variable: x\nLine: 1");
    says(":bindings", "No bindings.");
    leave();
}
END_TEST

START_TEST(output_and_collections) {
    start();
    shows("Transcript show: \"Hello, World!\"; cr", "Hello, World!\nActor(TranscriptStream, ");
    shows("Transcript show: \"no line end\"", "no line end\nActor(TranscriptStream, ");
    says("double := [:n | n * 2]", "Block/1");
    says("double value: 21", "42");
    says("#(1, 2, 3) collect: [:n | n * n]", "#(1, 4, 9)");
    says("#(#(1), #())", "#(#(1), #())");
    says("x := 5. x > 10 ifTrue: [\"big\"] ifFalse: [\"small\"]", "small");
    says("count := 0. [count < 5] whileTrue: [count := count + 1]. count", "5");
    says("(Stream from: 1) take: 5", "#(1, 2, 3, 4, 5)");
    says("((Stream from: 1) select: [:n | n isEven]) take: 2", "#(2, 4)");
    shows("File lines: \"probe_test.bt\"", "Result ok: ");
    says("(File lines: \"probe_test.bt\") unwrap asList size", "2");
    leave();
}
END_TEST

START_TEST(errors_leave_the_session_alone) {
    start();
    says("x := 7", "7");
    shows("42 fooBar", "Error: RuntimeError: Integer does not understand 'fooBar'\nHint: ");
    says("_error kind", "does_not_understand");
    shows("1 / 0", "Error: TypeError: bad arithmetic operation\nHint: ");
    says("[:a :b | a] value: 1",
         "Error: RuntimeError: Wrong number of arguments: block expects 2 but was called with 1");
    shows("1 + ]", "Error: Unexpected token: expected expression, found ]\nLine: 1");
    shows("Nowhere new", "Class 'Nowhere' not found");
    says("x", "7");
    leave();
}
END_TEST

START_TEST(unfinished_inputs) {
    start();
    pty_type(pty, "[:n | n + 1\r");
    SEES("..> ");
    says("] value: 4", "5");
    pty_type(pty, "(3 +\r");
    SEES("..> ");
    pty_type(pty, "\003");
    SEES("Cancelled\n> ");
    pty_type(pty, "half a line\003");
    SEES("\n> ");
    says("1", "1");
    pty_type(pty, "\"open text\r");
    SEES("..> ");
    says("over two lines\" size", "24");
    leave();
}
END_TEST

static const char counter[] = "Actor subclass: Tally\r"
                              "  state: n = 0\r"
                              "\r"
                              "  increment => self.n := self.n + 1\r"
                              "\r"
                              "  get => self.n\r";

START_TEST(live_actors) {
    start();
    pty_type(pty, counter);
    SEES("\nTally\n> ");
    shows("c := Tally spawn", "Actor(Tally, 0.");
    says("c increment", "1");
    says("c increment", "2");
    says("c get", "2");
    says("Tally >> increment => self.n := self.n + 10", "Tally>>increment");
    says("c increment", "12");
    says("c stop", "ok");
    says("c isAlive", "false");
    shows("c get", "Error: RuntimeError: Cannot send 'get' to Tally (actor process has terminated)");
    says("_error kind", "actor_dead");
    leave();
}
END_TEST

START_TEST(a_class_line_by_line) {
    start();
    pty_type(pty, "Value subclass: Empty\r");
    SEES("..> ");
    pty_type(pty, "  field: x = 1\r");
    SEES("..> ");
    says("", "Empty");
    says("Empty new", "Empty(x: 1)");
    pty_type(pty, "/// Says what it is for.\r");
    SEES("..> ");
    pty_type(pty, "Value subclass: Told\r");
    SEES("..> ");
    says("  y => 2", "Told");
    shows(":help Told", "Says what it is for.");
    pty_type(pty, "Told >> y =>\r");
    SEES("..> ");
    says("  3", "Told>>y");
    says("Told new y", "3");
    leave();
}
END_TEST

static void write_file(const char *name, const char *text) {
    char path[4200];
    snprintf(path, sizeof path, "%s/%s", home, name);
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    fclose(f);
}

START_TEST(loading_and_reloading) {
    strcpy(directory, home);
    write_file("gauge.bt", "Value subclass: Gauge\n  read => 1\n");
    start();
    says(":load gauge.bt", "Loaded: Gauge");
    says("Workspace classes", "#(Gauge)");
    says("Gauge new read", "1");
    write_file("gauge.bt", "Value subclass: Gauge\n  read => 2\n");
    says(":reload", "Reloaded: Gauge");
    says("Gauge new read", "2");
    write_file("gauge.bt", "Value subclass: Gauge\n  read => [3\n");
    shows(":reload", "Error: gauge.bt:");
    says("Gauge new read", "2");
    leave();
}
END_TEST

START_TEST(a_package_is_loaded_first) {
    strcpy(directory, home);
    write_file("beamtalk.toml", "[package]\nname = \"scales\"\nversion = \"0.1.0\"\n");
    char path[4200];
    snprintf(path, sizeof path, "%s/src", home);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    write_file("src/heavy.bt", "Light subclass: Heavy\n  weight => super weight * 10\n");
    write_file("src/light.bt", "Object subclass: Light\n  weight => 3\n");
    char *argv[] = {binary, (char *)"repl", NULL};
    start_with(argv, false);
    SEES("Reloaded 2 of 2 files (0 unchanged)\n> ");
    says("Heavy new weight", "30");
    write_file("src/light.bt", "Object subclass: Light\n  weight => 4\n");
    says(":sync", "Reloaded 1 of 2 files (1 unchanged)");
    says("Heavy new weight", "40");
    leave();
}
END_TEST

START_TEST(help_and_version) {
    start();
    shows(":help", ":load PATH");
    shows(":help Integer", "== Integer < Number ==");
    shows(":help Integer +", "== Integer >> + ==");
    shows("Beamtalk version", "0.");
    says(":frobnicate", "Error: Unknown command: :frobnicate. Type :help for a list.");
    leave();
}
END_TEST

/* ---- editing ---- */

START_TEST(completion) {
    start();
    pty_type(pty, "counterOfThings := 41\r");
    SEES("\n41\n> ");
    pty_type(pty, "counterOf\t+ 1\r");
    SEES("\n42\n> ");
    pty_type(pty, "\"abc\" upperc\t\r");
    SEES("\nABC\n> ");
    pty_type(pty, "TranscriptSt\tclass\r");
    SEES("\nTranscriptStream class\n> ");
    pty_type(pty, "5 asStr\t\t");
    SEES("asString");
    pty_type(pty, "\025\"x\" is\t");
    SEES("isEmpty");
    pty_type(pty, "\0251\r");
    SEES("\n1\n> ");
    leave();
}
END_TEST

START_TEST(history_over_sessions) {
    start();
    says("6 * 7", "42");
    pty_type(pty, "\033[A\r");
    SEES("\n42\n> ");
    leave();
    pty_free(pty);
    start();
    pty_type(pty, "\033[A\033[A\r");
    SEES("\n42\n> ");
    leave();
    char path[200];
    struct stat info;
    snprintf(path, sizeof path, "%s/.beamtalk/repl_history", home);
    ck_assert_int_eq(stat(path, &info), 0);
    ck_assert_int_eq((int)(info.st_mode & 0777), 0600);
}
END_TEST

START_TEST(text_beyond_ascii) {
    start();
    says("\"gr\xc3\xbc\xc3\x9f\" size", "4");
    says("\"\xe6\x97\xa5\xe6\x9c\xac\" ++ \"\xf0\x9f\x8d\xa3\"", "\xe6\x97\xa5\xe6\x9c\xac\xf0\x9f\x8d\xa3");
    leave();
}
END_TEST

START_TEST(colours) {
    char *argv[] = {binary, (char *)"repl", NULL};
    start_with(argv, true);
    pty->raw = true;
    SEES("> ");
    pty_type(pty, "3 + 4\r");
    SEES("\033[33m7\033[0m");
    pty_type(pty, "\"text\"\r");
    SEES("\033[32mtext\033[0m");
    pty_type(pty, "3 > 2\r");
    SEES("\033[1;34mtrue\033[0m");
    pty_type(pty, "#sym\r");
    SEES("\033[36msym\033[0m");
    pty_type(pty, "3 foo\r");
    SEES("\033[1;31mError: RuntimeError: ");
    leave();
    char *plain[] = {binary, (char *)"repl", (char *)"--no-color", NULL};
    pty_free(pty);
    start_with(plain, true);
    pty->raw = true;
    SEES("> ");
    pty_type(pty, "3 + 4\r");
    SEES("\n7\n");
    leave();
}
END_TEST

/* ---- interrupts ---- */

START_TEST(interrupted_evaluations) {
    start();
    says("kept := 5", "5");
    pty_type(pty, "[true] whileTrue: [1]\r");
    SEES("\n");
    usleep(200000);
    pty_type(pty, "\003");
    SEES("Interrupted\n> ");
    says("kept", "5");
    pty_type(pty, "Timer sleep: 100000\r");
    SEES("\n");
    usleep(200000);
    pty_type(pty, "\003");
    SEES("Interrupted\n> ");
    pty_type(pty, "#(1, 2, 3) collect: [:n | [true] whileTrue: [n]]\r");
    SEES("\n");
    usleep(200000);
    pty_type(pty, "\003");
    SEES("Interrupted\n> ");
    pty_type(pty, "Object subclass: Spinner\r  class spin => [true] whileTrue: [1]\r  class rest => 3\r");
    SEES("\nSpinner\n> ");
    pty_type(pty, "Spinner spin\r");
    SEES("\n");
    usleep(200000);
    pty_type(pty, "\003");
    SEES("Interrupted\n> ");
    says("Spinner rest", "3");
    says("kept", "5");
    leave();
}
END_TEST

START_TEST(lines_for_the_program) {
    start();
    pty_type(pty, "Console readLine: \"name? \"\r");
    SEES("\nname? ");
    pty_type(pty, "Bob\r");
    SEES("\nBob\n> ");
    pty_type(pty, "Console readLine\r");
    SEES("\n");
    usleep(200000);
    pty_type(pty, "\003");
    SEES("Interrupted\n> ");
    says("5 + 4", "9"); /* not the program's any more */
    pty_type(pty, "VmProcess start: [Timer sleep: 300. Transcript show: \"later\"; cr]\r");
    SEES("\n> ");
    pty_type(pty, "1 + ");
    SEES("later\n> 1 + ");
    says("2", "3");
    leave();
}
END_TEST

START_TEST(busy_actors_print) {
    start();
    pty_type(pty, "Actor subclass: Busy\r  work => [true] whileTrue: [1]\r");
    SEES("\nBusy\n> ");
    shows("b := Busy spawn", "Actor(Busy, ");
    shows("b work!", "nil");
    shows("b", "Actor(Busy, ");
    shows("b printString", "Actor(Busy, ");
    shows("#(b)", "#(Actor(Busy, ");
    shows("b kill", "ok");
    leave();
}
END_TEST

/* ---- ends ---- */

START_TEST(end_of_input) {
    start();
    pty_type(pty, "\004");
    SEES("Goodbye!\n");
    ends(0);
}
END_TEST

START_TEST(exit_by_the_program) {
    start();
    pty_type(pty, "Program exit: 9\r");
    ends(9);
}
END_TEST

typedef enum { AT_PROMPT, IN_INPUT, IN_LOOP, IN_SLEEP, IN_LISTING } Moment;

static void killed_at(Moment moment, int number) {
    start();
    if (moment == IN_INPUT) pty_type(pty, "[3 +\rhalf");
    if (moment == IN_INPUT) SEES("..> half");
    if (moment == IN_LOOP) pty_type(pty, "[true] whileTrue: [1]\r");
    if (moment == IN_SLEEP) pty_type(pty, "Timer sleep: 100000\r");
    if (moment == IN_LISTING) pty_type(pty, "\"x\" \t\t");
    if (moment == IN_LOOP || moment == IN_SLEEP) SEES("\n");
    usleep(100000);
    ck_assert_int_eq(kill(pty->pid, number), 0);
    ends(128 + number);
    pty_free(pty);
    pty = NULL;
}

START_TEST(killed) {
    killed_at((Moment)_i, SIGTERM);
    killed_at((Moment)_i, SIGINT);
    killed_at((Moment)_i, SIGHUP);
    char path[200];
    snprintf(path, sizeof path, "%s/.beamtalk", home);
    DIR *dir = opendir(path);
    for (struct dirent *e; dir && (e = readdir(dir));)
        ck_assert(e->d_name[0] == '.' || !strcmp(e->d_name, "repl_history"));
    if (dir) closedir(dir);
}
END_TEST

int main(void) {
    const TTest *const tests[] = {arithmetic_and_classes,
                                  texts_and_variables,
                                  output_and_collections,
                                  errors_leave_the_session_alone,
                                  unfinished_inputs,
                                  live_actors,
                                  a_class_line_by_line,
                                  loading_and_reloading,
                                  a_package_is_loaded_first,
                                  help_and_version,
                                  completion,
                                  history_over_sessions,
                                  text_beyond_ascii,
                                  colours,
                                  interrupted_evaluations,
                                  lines_for_the_program,
                                  busy_actors_print,
                                  end_of_input,
                                  exit_by_the_program};
    Suite *suite = suite_create("repl");
    TCase *c = suite_case(suite, "terminal", setup, teardown, 120, tests, COUNT_OF(tests));
    tcase_add_loop_test(c, killed, AT_PROMPT, IN_LISTING + 1);
    return suite_run(suite);
}
