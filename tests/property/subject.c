#include "subject.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "beamtalk.h"

enum { DEADLINE_MS = 20000, PROGRAMS_PER_VM = 150 };

struct Subject {
    bt_vm *vm;
    bool seeded;
    uint64_t seed;
    int programs; /* run in this VM */
};

static bt_status evaluate(bt_session *session, const char *source, bt_result **result) {
    bt_eval_options options = {
        .size = sizeof options, .want_shown = 1, .ignore_link_exits = 1, .deadline_ms = DEADLINE_MS};
    return bt_vm_eval(session, source, strlen(source), &options, result);
}

static void open_vm(Subject *s) {
    bt_config config = {
        .size = sizeof config, .schedulers = s->seeded ? 1 : 2, .seeded = s->seeded, .seed = s->seed};
    s->vm = bt_vm_new(&config);
    bt_session *session = s->vm ? bt_session_new(s->vm) : NULL;
    bt_result *result = NULL;
    if (!session || evaluate(session, prelude_text(), &result) != BT_OK) {
        fprintf(stderr, "the prelude does not load: %s\n", result ? bt_result_diagnostics(result) : "no VM");
        exit(2);
    }
    bt_result_free(result);
    bt_session_free(session);
    s->programs = 0;
}

Subject *subject_new(bool seeded, uint64_t seed) {
    Subject *s = calloc(1, sizeof *s);
    if (!s) exit(2);
    s->seeded = seeded;
    s->seed = seed;
    open_vm(s);
    return s;
}

void subject_free(Subject *s) {
    bt_vm_free(s->vm);
    free(s);
}

static int occurrences(const char *text, const char *piece) {
    int count = 0;
    for (const char *at = text; (at = strstr(at, piece)); at += strlen(piece)) count++;
    return count;
}

static void rejected(SubjectAnswer *answer, const char *diagnostics) {
    answer->ran = RAN_REJECTED;
    answer->counted =
        (Verdict){.no_channel = occurrences(diagnostics, "cannot return the write"),
                  .state_stored = occurrences(diagnostics, "inside a stored closure"),
                  .state_foreign = occurrences(diagnostics, "Cannot mutate Actor state inside a closure")};
    int errors = 0; /* each begins a line; an error of another kind is no refusal */
    for (const char *line = diagnostics; line; line = strchr(line, '\n')) {
        if (*line == '\n') line++;
        errors += !strncmp(line, "error", 5);
        if (!*line) break;
    }
    if (errors != answer->counted.no_channel + answer->counted.state_stored + answer->counted.state_foreign ||
        !errors)
        answer->ran = RAN_BROKEN;
    prog_text_add(&answer->answer, "%s", diagnostics);
}

/* True if the value (or the raised kind) is in text. */
static bool take(bt_status status, const bt_result *result, bool *raised, SubjectAnswer *answer,
                 ProgText *text) {
    if (status == BT_OK) {
        const char *printed = bt_result_print_string(result);
        prog_text_add(text, "%s", printed ? printed : "");
        return true;
    }
    if (status == BT_RUNTIME_ERROR && raised) {
        *raised = true;
        prog_text_add(text, "%s", bt_result_error_kind(result));
        return true;
    }
    if (status == BT_COMPILE_ERROR) {
        rejected(answer, bt_result_diagnostics(result));
        return false;
    }
    answer->ran = RAN_BROKEN;
    prog_text_add(&answer->answer, "status %d %s %s", (int)status, result ? bt_result_error_kind(result) : "",
                  result ? bt_result_error_message(result) : "");
    return false;
}

static bool input(bt_session *session, const char *source, bool *raised, SubjectAnswer *answer,
                  ProgText *text) {
    bt_result *result = NULL;
    bt_status status = evaluate(session, source, &result);
    bool taken = take(status, result, raised, answer, text);
    bt_result_free(result);
    return taken;
}

SubjectAnswer subject_run(Subject *s, const Program *program, Spelling spelling) {
    if (s->programs++ >= PROGRAMS_PER_VM) {
        bt_vm_free(s->vm);
        open_vm(s);
    }
    char name[24];
    snprintf(name, sizeof name, "P%d", s->programs);
    ProgText class_text = {0}, ignored = {0};
    Inputs inputs;
    program_class_text(program, spelling, name, &class_text);
    program_inputs(program, spelling, name, &inputs);
    prog_text_add(&class_text, "%s", "");
    SubjectAnswer answer = {.ran = RAN_OK};
    bt_session *session = bt_session_new(s->vm);
    bool go = !class_text.length || input(session, class_text.bytes, NULL, &answer, &ignored);
    go = go && input(session, inputs.setup.bytes, NULL, &answer, &ignored);
    go = go && input(session, inputs.answer.bytes, &answer.raised, &answer, &answer.answer);
    if (go) input(session, inputs.finals.bytes, NULL, &answer, &answer.finals);
    bt_session_free(session);
    prog_text_free(&class_text);
    prog_text_free(&ignored);
    inputs_free(&inputs);
    return answer;
}

void subject_answer_free(SubjectAnswer *answer) {
    prog_text_free(&answer->answer);
    prog_text_free(&answer->finals);
}
