/* What a host may deny to programs, and limit: each case is contained, and the VM goes on. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "beamtalk.h"
#include "tests/unit/test_suite.h"
#include "vm/capabilities.h"
#include "vm/process.h"

static char printed[4096], errors[4096], logged[65536];
static void note(char *to, size_t room, const char *bytes, size_t length) {
    size_t used = strlen(to);
    if (length > room - used - 1) length = room - used - 1;
    memcpy(to + used, bytes, length);
    to[used + length] = 0;
}
static void on_output(void *context, const char *bytes, size_t length) {
    (void)context, note(printed, sizeof printed, bytes, length);
}
static void on_error(void *context, const char *bytes, size_t length) {
    (void)context, note(errors, sizeof errors, bytes, length);
}
static void on_log(void *context, const char *bytes, size_t length) {
    (void)context, note(logged, sizeof logged, bytes, length);
}

static bt_vm *vm;
static bt_session *session;

static void open_vm(bt_config config) {
    printed[0] = errors[0] = logged[0] = 0;
    config.size = sizeof config;
    config.output = on_output;
    config.error_output = on_error;
    config.log = on_log;
    vm = bt_vm_new(&config);
    session = bt_session_new(vm);
    ck_assert_ptr_nonnull(session);
}

static bt_status eval(const char *source, bt_result **r) {
    const bt_eval_options options = {.size = sizeof options, .want_shown = 1, .ignore_link_exits = 1};
    return bt_vm_eval(session, source, strlen(source), &options, r);
}

/* The VM is whole: it still computes. */
static void close_vm(void) {
    bt_result *r = NULL;
    ck_assert_int_eq(eval("6 * 7", &r), BT_OK);
    ck_assert_str_eq(bt_result_print_string(r), "42");
    bt_result_free(r);
    bt_session_free(session);
    bt_vm_free(vm);
}

static void answers(const char *source, const char *text) {
    bt_result *r = NULL;
    bt_status status = eval(source, &r);
    ck_assert_msg(status == BT_OK, "%s: %d %s", source, status, bt_result_error_message(r));
    ck_assert_str_eq(bt_result_print_string(r), text);
    bt_result_free(r);
}

static void fails(const char *source, const char *kind, const char *in_hint) {
    bt_result *r = NULL;
    bt_status status = eval(source, &r);
    ck_assert_msg(status == BT_RUNTIME_ERROR, "%s: %d %s", source, status, bt_result_print_string(r));
    ck_assert_str_eq(bt_result_error_kind(r), kind);
    ck_assert_ptr_nonnull(bt_result_error_message(r));
    const char *hint = bt_result_error_hint(r) ? bt_result_error_hint(r) : "";
    ck_assert_msg(strstr(hint, in_hint) != NULL, "%s: %s", source, hint);
    bt_result_free(r);
}

/* ---- capabilities ---- */

static const char *const FILE_USES[] = {"File exists: \"/etc/passwd\"",
                                        "File readAll: \"/etc/passwd\"",
                                        "File writeAll: \"/tmp/beamtalk_denied\" contents: \"x\"",
                                        "File appendBinary: \"/tmp/beamtalk_denied\" contents: \"x\"",
                                        "File delete: \"/tmp/beamtalk_denied\"",
                                        "File mkdir: \"/tmp/beamtalk_denied\"",
                                        "File listDirectory: \"/tmp\"",
                                        "File isDirectory: \"/tmp\"",
                                        "File lastModified: \"/etc/passwd\"",
                                        "File rename: \"/tmp/a\" to: \"/tmp/b\"",
                                        "File open: \"/etc/passwd\" mode: #read do: [:h | h]",
                                        "File cwd",
                                        "File tempDirectory"};
static const char *const ENVIRONMENT_USES[] = {"System getEnv: \"HOME\"", "System setEnv: \"A\" value: \"b\"",
                                               "System hostname", "System pid"};

START_TEST(files_denied) {
    open_vm((bt_config){.denied = BT_DENY_FILES});
    for (size_t i = 0; i < sizeof FILE_USES / sizeof *FILE_USES; i++)
        fails(FILE_USES[i], "permission_denied", "The host does not allow programs to use files");
    ck_assert_int_ne(access("/tmp/beamtalk_denied", F_OK), 0);
    answers("(System getEnv: \"PATH\") isNil", "false");
    answers("[File cwd] on: Error do: [:e | e kind]", "#permission_denied");
    close_vm();
}
END_TEST

START_TEST(environment_denied) {
    open_vm((bt_config){.denied = BT_DENY_ENVIRONMENT});
    for (size_t i = 0; i < sizeof ENVIRONMENT_USES / sizeof *ENVIRONMENT_USES; i++)
        fails(ENVIRONMENT_USES[i], "permission_denied", "environment of the host");
    answers("File exists: \"/\"", "true");
    close_vm();
}
END_TEST

START_TEST(exit_and_input_denied) {
    open_vm((bt_config){.denied = BT_DENY_EXIT | BT_DENY_INPUT});
    fails("Program exit: 3", "permission_denied", "end the virtual machine");
    fails("System halt: 3", "permission_denied", "end the virtual machine");
    fails("Console readLine", "permission_denied", "standard input");
    close_vm();
    open_vm((bt_config){.denied = BT_DENY_ALL});
    fails("Program exit: 3", "permission_denied", "end the virtual machine");
    fails("File cwd", "permission_denied", "use files");
    close_vm();
}
END_TEST

START_TEST(nothing_denied) {
    open_vm((bt_config){0});
    answers("(File exists: \"/\") and: [(System pid) > 0]", "true");
    bt_result *r = NULL;
    ck_assert_int_eq(eval("Program exit: 3", &r), BT_EXIT);
    ck_assert_int_eq(bt_result_exit_status(r), 3);
    bt_result_free(r);
    bt_session_free(session);
    bt_vm_free(vm);
}
END_TEST

/* A new primitive of files must not be forgotten in the table. */
START_TEST(every_file_primitive_needs_files) {
    static const char *const HARMLESS[] = {"FileHandle>>close", "FileHandle>>isOpen", "FileHandle>>__mode"};
    for (unsigned i = 0; i < PRIM_COUNT; i++) {
        const char *name = PRIM_TABLE[i].name;
        bool harmless = strncmp(name, "File", 4) != 0;
        for (size_t k = 0; k < 3; k++) harmless = harmless || !strcmp(name, HARMLESS[k]);
        ck_assert_msg(harmless || capability_needed(PRIM_TABLE[i].fn) == BT_DENY_FILES, "%s", name);
    }
}
END_TEST

/* ---- limits ---- */

START_TEST(endless_loops) {
    open_vm((bt_config){.reductions_limit = 2000000, .deadline_ms = 20000});
    fails("[true] whileTrue: [nil]", "resource_error", "at most 2000000 reductions");
    fails("[true] whileTrue: [[1/0] on: Error do: [:e | nil]]", "resource_error", "reductions");
    fails("[[true] whileTrue: [nil]] on: Error do: [:e | 1]", "resource_error", "reductions");
    fails("[[true] whileTrue: [nil]] ensure: [[true] whileTrue: [nil]]", "resource_error", "reductions");
    answers("(1 to: 100000) inject: 0 into: [:a :b | a + b]", "5000050000");
    const bt_eval_options less = {.size = sizeof less, .reductions_limit = 10000};
    bt_result *r = NULL;
    const char *sum = "(1 to: 100000) inject: 0 into: [:a :b | a + b]";
    ck_assert_int_eq(bt_vm_eval(session, sum, strlen(sum), &less, &r), BT_RUNTIME_ERROR);
    ck_assert_str_eq(bt_result_error_kind(r), "resource_error");
    ck_assert_str_eq(bt_result_error_hint(r), "This evaluation may use at most 10000 reductions");
    bt_result_free(r);
    close_vm();
}
END_TEST

START_TEST(endless_actor) {
    open_vm((bt_config){.reductions_limit = 2000000, .deadline_ms = 20000});
    answers("Actor subclass: Spinner\n  state: n = 0\n  spin => [true] whileTrue: [self.n := self.n + 1]\n"
            "  small => 1\n"
            "\n(Spinner spawn) small",
            "1");
    fails("Spinner spawn spin", "actor_dead", "");
    answers("s := Spinner spawn. (1 to: 20000) do: [:i | s small]. s small", "1"); /* per message */
    ck_assert_ptr_nonnull(strstr(logged, "used up its reductions"));
    close_vm();
}
END_TEST

START_TEST(default_deadline) {
    open_vm((bt_config){.deadline_ms = 50});
    bt_result *r = NULL;
    ck_assert_int_eq(eval("[true] whileTrue: [nil]", &r), BT_TIMEOUT);
    bt_result_free(r);
    close_vm();
}
END_TEST

START_TEST(printing) {
    open_vm((bt_config){.output_limit_bytes = 1000, .deadline_ms = 20000});
    fails("[true] whileTrue: [Console print: \"0123456789\"]", "resource_error", "at most 1000 bytes");
    ck_assert_uint_eq(strlen(printed), 1000);
    fails("[true] whileTrue: [[Console error: \"0123456789\"] ensure: [1]]", "resource_error", "bytes");
    ck_assert_uint_eq(strlen(errors), 1000);
    answers("Console print: \"ok\". 1", "1");
    fails("[true] whileTrue: [Transcript show: \"0123456789\"]", "resource_error", "");
    close_vm();
}
END_TEST

START_TEST(memory) {
    static const char *const HOGS[] = {
        "l := #(). [true] whileTrue: [l := l addFirst: 1]",
        "s := \"x\". [true] whileTrue: [s := s ++ s]",
        "s := \"x\". [true] whileTrue: [s := s ++ \"another piece of text that makes it longer\"]",
        "l := #(). [true] whileTrue: [l := l addFirst: (\"abcdefgh\" repeat: 1000)]",
        "d := #{}. i := 0. [true] whileTrue: [d := d at: i put: (\"abcdefgh\" repeat: 20). i := i + 1]",
        "n := 3. [true] whileTrue: [n := n * n]",
        "s := \"abcdefgh\" repeat: 100000. s replaceAll: \"a\" with: s",
        "s := \"abcdefgh\" repeat: 100000. (s split: \"a\") join: s",
        "x := #(1). 40 timesRepeat: [x := #(x, x)]. x printString",
        "x := #(1). 40 timesRepeat: [x := #(x, x)]. Json generate: x",
        "(\"abcdefgh\" repeat: 100000000) size"};
    open_vm((bt_config){.heap_limit_bytes = 20 << 20, .deadline_ms = 60000});
    for (size_t i = 0; i < sizeof HOGS / sizeof *HOGS; i++) fails(HOGS[i], "resource_error", "");
    close_vm();
}
END_TEST

START_TEST(deep_recursion) {
    open_vm((bt_config){.stack_limit_bytes = 4 << 20, .deadline_ms = 20000});
    answers("Object subclass: Deep\n  class down: n => 1 + (self down: n + 1)\n\n1", "1");
    fails("Deep down: 0", "resource_error", "");
    fails("b := [:x :n | 1 + (x value: x value: n + 1)]. b value: b value: 0", "resource_error", "");
    close_vm();
}
END_TEST

START_TEST(spawn_flood) {
    open_vm((bt_config){.process_limit = 300, .deadline_ms = 20000});
    answers("Actor subclass: Idle\n  state: n = 0\n\n1", "1");
    fails("[true] whileTrue: [Idle spawn]", "resource_error", "limit of processes");
    close_vm();
}
END_TEST

START_TEST(timer_flood) {
    open_vm((bt_config){.timer_limit = 1000, .process_limit = 300, .deadline_ms = 20000});
    fails("[true] whileTrue: [Timer after: 3600000 do: [1]]", "resource_error", "limit of timers");
    answers("Timer sleep: 1. 2", "2");
    close_vm();
}
END_TEST

int main(void) {
    const TTest *const CAPABILITIES[] = {files_denied, environment_denied, exit_and_input_denied,
                                         nothing_denied, every_file_primitive_needs_files};
    const TTest *const LIMITS[] = {endless_loops, endless_actor,  default_deadline, printing,
                                   memory,        deep_recursion, spawn_flood,      timer_flood};
    Suite *s = suite_create("contained");
    suite_case(s, "capabilities", NULL, NULL, 120, CAPABILITIES, COUNT_OF(CAPABILITIES));
    suite_case(s, "limits", NULL, NULL, 300, LIMITS, COUNT_OF(LIMITS));
    return suite_run(s);
}
