/* See meta.h. */
#define _GNU_SOURCE
#include "vm/cli/meta.h"
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "vm/api/front.h"
#include "vm/api/complete.h"

/* One run of a command: `operand` is the rest of its line without blanks at either end. */
typedef struct {
    Meta *meta;
    const char *template;
    char *operand;
    MetaReply reply;
} Run;

typedef struct {
    const char *name, *aliases, *operands;
    void (*run)(Run *run);
    const char *template, *help;
} MetaCommand;

/* ---- replies ---- */

static void reply(Run *r, bool failed, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void reply(Run *r, bool failed, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    free(r->reply.text);
    if (vasprintf(&r->reply.text, format, arguments) < 0) r->reply.text = NULL;
    va_end(arguments);
    r->reply.failed = failed;
}

static char *trimmed(char *s) {
    while (isspace((unsigned char)*s)) s++;
    size_t n = strlen(s);
    while (n && isspace((unsigned char)s[n - 1])) s[--n] = 0;
    return s;
}

/* ---- evaluating ---- */

/* The REPL's text of a value; NULL after a failed reply. Caller frees. */
static char *evaluated(Run *r, const char *source) {
    bt_eval_options options = {.size = sizeof options, .want_shown = 1, .ignore_link_exits = 1};
    bt_result *result = NULL;
    bt_status status = bt_vm_eval(r->meta->session, source, strlen(source), &options, &result);
    const char *text = status != BT_OK     ? bt_result_error_message(result)
                       : r->meta->protocol ? bt_result_shown(result)
                                           : bt_result_repl_text(result);
    if (status == BT_OK) {
        char *copy = strdup(text ? text : "");
        bt_result_free(result);
        return copy;
    }
    reply(r, true, "%s", text ? text : "the command failed");
    r->reply.result = result;
    return NULL;
}

static void reply_evaluated(Run *r, const char *source) {
    char *text = evaluated(r, source);
    if (text) reply(r, false, "%s", text);
    free(text);
}

/* The operand as a String literal. */
static char *quoted(const char *text) {
    char *out = malloc(2 * strlen(text) + 3), *at = out;
    if (!out) return NULL;
    *at++ = '"';
    for (; *text; text++) {
        if (strchr("\"\\{}", *text)) *at++ = '\\';
        *at++ = *text;
    }
    strcpy(at, "\"");
    return out;
}

/* The template with the text at its %s. */
static char *filled(const char *template, const char *text) {
    const char *mark = strstr(template, "%s");
    char *out;
    if (!mark) return strdup(template);
    return asprintf(&out, "%.*s%s%s", (int)(mark - template), template, text, mark + 2) < 0 ? NULL : out;
}

static void reply_filled(Run *r, const char *text) {
    char *source = filled(r->template, text);
    if (source) reply_evaluated(r, source);
    free(source);
}

/* Class names and selectors come as operands: nothing else may get into a template. */
static bool is_class_name(const char *text) {
    if (!isupper((unsigned char)*text)) return false;
    while (isalnum((unsigned char)*text) || *text == '_') text++;
    return *text == 0;
}

static bool class_exists(Run *r, const char *name) {
    char *source;
    if (asprintf(&source, "(Beamtalk classNamed: #%s) notNil", name) < 0) return false;
    char *text = is_class_name(name) ? evaluated(r, source) : NULL;
    bool found = text && !strcmp(text, "true");
    free(text);
    free(source);
    return found;
}

/* False after a failed reply. */
static bool needs_class(Run *r, const char *name) {
    if (!*name) {
        reply(r, true, "Expected a class name");
    } else if (!class_exists(r, name)) {
        if (r->meta->protocol)
            reply(r, true, "Class not found: %s (Class '%s' not found)", name, name);
        else
            reply(r, true, "Class '%s' not found", name);
    } else {
        return true;
    }
    return false;
}

static bool confirmed(Run *r, const char *question) {
    if (!r->meta->confirm || r->meta->confirm(r->meta->confirm_context, question)) return true;
    reply(r, false, "Cancelled");
    return false;
}

/* ---- the commands ---- */

static void meta_value(Run *r) { reply_evaluated(r, r->template); }

static void meta_value_of(Run *r) {
    if (*r->operand)
        reply_filled(r, r->operand);
    else
        reply(r, true, "Expected an expression");
}

static void meta_exit(Run *r) {
    r->reply.exit = true;
    reply(r, false, "Goodbye!");
}

static void meta_clear(Run *r) {
    bt_session_clear(r->meta->session);
    reply(r, false, r->meta->protocol ? "ok" : "Bindings cleared.");
}

static void meta_bindings(Run *r) {
    char *text = evaluated(
        r, r->meta->protocol
               ? "(Session current bindings keys collect: [:each | each asString]) join: \", \""
               : "(Session current bindings keys collect: [:each | each asString]) join: $\\n asString");
    if (text) reply(r, false, "%s", *text ? text : r->meta->protocol ? "No bindings" : "No bindings.");
    free(text);
}

/* What was loaded: `A, B`, or for a directory how many files. */
static void load(Run *r, const char *path, const char *verb) {
    char *name = quoted(path), *loading = name ? filled("Loader load: %s", name) : NULL, *source = NULL;
    size_t n = strlen(path);
    while (*verb == 'R' && n > 1 && path[n - 1] == '/') n--;
    char *shown = strndup(path, n), *shown_name = shown ? quoted(shown) : NULL;
    if (loading && shown_name &&
        asprintf(
            &source,
            "[:loaded | (File isDirectory: %s) ifTrue: [\"%s {loaded files} files from \" ++ %s] ifFalse: "
            "[\"%s: \" ++ ((loaded classes collect: [:c | c name asString]) join: \", \")]] value: (%s)",
            name, verb, shown_name, verb, loading) >= 0)
        reply_evaluated(r, source);
    free(source);
    free(shown_name);
    free(shown);
    free(loading);
    free(name);
}

static void meta_load(Run *r) {
    if (!*r->operand) {
        reply(r, true, "Expected the path of a file or directory");
        return;
    }
    load(r, r->operand, "Loaded");
    if (r->reply.failed) return;
    free(r->meta->last_path);
    r->meta->last_path = strdup(r->operand);
}

static void meta_reload(Run *r) {
    if (!*r->operand && !r->meta->last_path)
        reply(r, true, "Nothing has been loaded yet");
    else if (!*r->operand)
        load(r, r->meta->last_path, "Reloaded");
    else if (needs_class(r, r->operand))
        reply_filled(r, r->operand);
}

static void remove_class(Run *r) {
    if (!needs_class(r, r->operand)) return;
    char *source;
    if (asprintf(&source, "%s __isLibrary", r->operand) < 0) return;
    char *library = evaluated(r, source);
    free(source);
    if (library && !strcmp(library, "true"))
        reply(r, true, "Cannot remove stdlib class '%s'", r->operand);
    else if (library)
        reply_filled(r, r->operand);
    free(library);
    if (!r->reply.failed) reply(r, false, "ok");
}

static void meta_unload(Run *r) { remove_class(r); }
static void meta_remove_class(Run *r) {
    if (confirmed(r, "Remove the class?")) remove_class(r);
}

static void meta_test(Run *r) {
    if (!*r->operand)
        reply_evaluated(r, "Workspace test");
    else if (needs_class(r, r->operand))
        reply_filled(r, r->operand);
}

static void meta_codegen(Run *r) {
    DiagList diags;
    diag_list_init(&diags, NULL);
    char *text = NULL;
    if (!front_listing(r->meta->session, r->operand, strlen(r->operand), &diags, &text)) {
        char *rendered = diag_render_all(&diags, NULL, DIAG_ERROR);
        reply(r, true, "%s", rendered ? rendered : "it cannot be compiled");
        free(rendered);
    } else {
        reply(r, false, "%s", text);
    }
    free(text);
    diag_list_free(&diags);
}

static void meta_interrupt(Run *r) {
    bt_session_interrupt(r->meta->session);
    reply(r, false, "Interrupt sent.");
}

static void meta_complete(Run *r) {
    char *text; /* as if Tab were pressed behind the last word */
    if (asprintf(&text, "%s ", r->operand) < 0) return;
    Completions c = complete_text(r->meta->session, text, strlen(text));
    free(text);
    char *joined = strdup("");
    for (size_t i = 0; joined && i < c.count; i++) {
        char *longer;
        if (asprintf(&longer, "%s%s%s", joined, i ? ", " : "", c.words[i]) < 0) longer = NULL;
        free(joined);
        joined = longer;
    }
    if (joined) reply(r, false, "%s", joined);
    free(joined);
    completions_free(&c);
}

/* `Counter`, `#kind`, `#{...}`: what `flush:` takes. */
static void flush_by(Run *r, const char *all) {
    if (*r->operand)
        reply_filled(r, r->operand);
    else
        reply_evaluated(r, all);
}
static void meta_flush(Run *r) { flush_by(r, "Workspace flush"); }
static void meta_flush_destructive(Run *r) {
    if (confirmed(r, "Write removals to the files too?")) flush_by(r, "Workspace flushIncludingDestructive");
}

static void meta_recheck(Run *r) {
    if (*r->operand && strcmp(r->operand, "image"))
        reply(r, true, "Expected :recheck image");
    else
        meta_value(r);
}

/* The first word of the operand, which ends there; answers the rest. */
static char *split_word(char *text) {
    char *end = text + strcspn(text, " \t");
    if (*end) *end++ = 0;
    return trimmed(end);
}

static void meta_remove_method(Run *r) {
    char *selector = split_word(r->operand), *source = NULL, *name;
    if (*selector == '#') selector++;
    bool meta = !strncmp(selector, "class ", 6);
    if (meta) selector = trimmed(selector + 6);
    if (!needs_class(r, r->operand)) return;
    if (!*selector) {
        reply(r, true, "Expected a class and a selector");
        return;
    }
    if (!confirmed(r, "Remove the method?")) return;
    name = quoted(selector);
    if (name &&
        asprintf(&source, "%s%s removeSelector: %s asAtom", r->operand, meta ? " class" : "", name) >= 0)
        reply_evaluated(r, source);
    free(source);
    free(name);
}

static void overview(Run *r);

/* :help C, :help C sel, :help C class [sel] */
static void meta_help(Run *r) {
    if (!*r->operand) {
        overview(r);
        return;
    }
    char *rest = split_word(r->operand), *source = NULL;
    if (!strcmp(r->operand, "Erlang")) {
        reply(r, false,
              "No Erlang documentation is available: this VM has a table of Erlang functions, not the "
              "modules themselves.");
        return;
    }
    char *package = strchr(r->operand, '@'); /* stdlib@Integer */
    if (package) r->operand = package + 1;
    bool meta = !strncmp(rest, "class", 5) && (rest[5] == 0 || isspace((unsigned char)rest[5]));
    if (meta) rest = trimmed(rest + 5);
    if (!needs_class(r, r->operand)) return;
    char *selector = *rest ? quoted(rest) : NULL;
    int made = selector ? asprintf(&source, "Beamtalk help: %s%s selector: %s", r->operand,
                                   meta ? " class" : "", selector)
                        : asprintf(&source, "Beamtalk help: %s%s", r->operand, meta ? " class" : "");
    if (made >= 0) reply_evaluated(r, source);
    free(source);
    free(selector);
}

/* ---- the table ---- */

static const MetaCommand COMMANDS[] = {
#define META(name, aliases, operands, function, template, help)                                              \
    {name, aliases, operands, function, template, help},
#include "vm/cli/meta_commands.def"
#undef META
};
enum { COMMAND_COUNT = sizeof COMMANDS / sizeof *COMMANDS };

static void overview(Run *r) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out) return;
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        const MetaCommand *c = &COMMANDS[i];
        char left[80];
        snprintf(left, sizeof left, ":%s %s", c->name, c->operands);
        fprintf(out, "  %-28s %s", left, c->help);
        if (*c->aliases) fprintf(out, " (:%s)", c->aliases);
        fputc('\n', out);
    }
    fprintf(out, "Anything else is evaluated. Beamtalk help: Integer says what a class understands.");
    fclose(out);
    reply(r, false, "%s", text ? text : "");
    free(text);
}

/* Does the blank-separated list hold this word? */
static bool listed(const char *list, const char *word, size_t length) {
    for (; *list; list += strspn(list, " ")) {
        size_t n = strcspn(list, " ");
        if (n == length && !strncmp(list, word, n)) return true;
        list += n;
    }
    return false;
}

static const MetaCommand *find(const char *word, size_t length) {
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (listed(COMMANDS[i].name, word, length) || listed(COMMANDS[i].aliases, word, length))
            return &COMMANDS[i];
    return NULL;
}

bool meta_is_command(const char *line) {
    line += strspn(line, " \t");
    return *line == ':' && (isalpha((unsigned char)line[1]) || line[1] == '?' || line[1] == 0);
}

MetaReply meta_run(Meta *meta, const char *line) {
    Run r = {.meta = meta};
    char *copy = strdup(line);
    if (!copy) return r.reply;
    char *word = trimmed(copy);
    word += *word == ':';
    size_t length = strcspn(word, " \t");
    const MetaCommand *c = find(word, length);
    if (c) {
        r.template = c->template;
        r.operand = trimmed(word + length);
        c->run(&r);
    } else {
        reply(&r, true, "Unknown command: :%.*s. Type :help for a list.", (int)length, word);
    }
    free(copy);
    return r.reply;
}

MetaReply meta_load_path(Meta *meta, const char *path) {
    Run r = {.meta = meta, .operand = strdup(path)};
    if (r.operand) meta_load(&r);
    free(r.operand);
    return r.reply;
}

void meta_reply_free(MetaReply *reply_) {
    free(reply_->text);
    bt_result_free(reply_->result);
    *reply_ = (MetaReply){0};
}

void meta_free(Meta *meta) {
    free(meta->last_path);
    meta->last_path = NULL;
}
