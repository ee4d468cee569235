/* ThreadedIr from text: every fixture *.ir says in its first line what the verifier must find (`; expect:
 * Name`) or that it passes (`; expect: none`). What passes must print and parse to the same text, and emit
 * code that the loader's check accepts. Then each fixture is damaged in many ways: nothing may crash, and
 * whatever still verifies must emit sound code. Last line: `N passed, N failed`. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/ir.h"

static int passed, failed;

static void check(bool ok, const char *file, const char *what) {
    if (ok) {
        passed++;
        return;
    }
    failed++;
    printf("FAIL %s: %s\n", file, what);
}

static char *read_file(const char *path, size_t *length) {
    SourceFile file;
    const char *why;
    if (!source_file_load(&file, path, &why)) return NULL;
    char *text = malloc(file.length + 1);
    if (text) {
        memcpy(text, file.text, file.length);
        text[file.length] = 0;
        *length = file.length;
    }
    source_file_free(&file);
    return text;
}

static void print_findings(const DiagList *diags) {
    for (uint32_t i = 0; i < diags->count; i++) printf("  %s\n", diags->items[i].message);
}

/* Emits a verified unit; true if the loader would take it. */
static bool emits_soundly(IrVerified *verified, DiagList *diags) {
    BcUnit *bc = ir_emit(verified, diags);
    if (!bc) return false;
    char reason[200] = "";
    bool sound = bc_check(bc, reason, sizeof reason);
    if (!sound) printf("  %s\n", reason);
    char *text = bc_disassemble(bc);
    free(text);
    bc_unit_free(bc);
    return sound;
}

/* ---- fixtures ---- */

static void check_sound(const char *file, IrUnit *unit, DiagList *diags) {
    IrVerified *verified = ir_verify(unit, diags);
    check(verified != NULL, file, "passes the verifier");
    if (!verified) {
        print_findings(diags);
        return;
    }
    char *once = ir_print(unit);
    IrUnit *again = once ? ir_parse(once, strlen(once), diags) : NULL;
    char *twice = again ? ir_print(again) : NULL;
    check(once && twice && strcmp(once, twice) == 0, file, "prints, parses and prints the same");
    check(emits_soundly(verified, diags), file, "emits code that passes the loader");
    free(once);
    free(twice);
    ir_unit_free(again);
}

static void check_finding(const char *file, IrUnit *unit, DiagList *diags, const char *expect) {
    IrVerified *verified = ir_verify(unit, diags);
    check(!verified && diag_error_count(diags) > 0, file, "is refused");
    bool all = diags->count > 0;
    for (uint32_t i = 0; i < diags->count; i++) {
        const Diag *d = &diags->items[i];
        all =
            all && d->message && strstr(d->message, expect) && strcmp(d->category, "internal_verifier") == 0;
    }
    check(all, file, expect);
    if (!all) print_findings(diags);
}

static void check_fixture(const char *file, const char *text, size_t length) {
    char expect[64] = "";
    check(sscanf(text, "; expect: %63s", expect) == 1, file, "says what it expects");
    DiagList diags;
    diag_list_init(&diags, NULL);
    IrUnit *unit = ir_parse(text, length, &diags);
    check(unit != NULL, file, "is text of the form");
    if (!unit)
        print_findings(&diags);
    else if (strcmp(expect, "none") == 0)
        check_sound(file, unit, &diags);
    else
        check_finding(file, unit, &diags, expect);
    ir_unit_free(unit);
    diag_list_free(&diags);
}

/* ---- damage ---- */

static uint64_t next_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Another digit, another word from elsewhere in the text, a line left out, or any byte. */
static void damage(char *text, size_t *length, uint64_t *state) {
    size_t at = next_random(state) % *length, from = next_random(state) % *length;
    switch (next_random(state) % 4) {
    case 0:
        while (at < *length && (text[at] < '0' || text[at] > '9')) at++;
        if (at < *length) text[at] = (char)('0' + next_random(state) % 10);
        break;
    case 1:
        for (size_t i = 0; i < 6 && at + i < *length && from + i < *length; i++)
            text[at + i] = text[from + i];
        break;
    case 2: {
        size_t end = at;
        while (at > 0 && text[at - 1] != '\n') at--;
        while (end < *length && text[end] != '\n') end++;
        memmove(text + at, text + end, *length - end);
        *length -= end - at;
        if (!*length) text[(*length)++] = '\n';
        break;
    }
    default: text[at] = (char)next_random(state); break;
    }
}

static void check_damaged(const char *file, const char *text, size_t length, int rounds) {
    uint64_t state = 0x9e3779b97f4a7c15u;
    bool sound = true;
    for (int round = 0; round < rounds && sound; round++) {
        char *copy = malloc(length + 1);
        size_t n = length;
        if (!copy) return;
        memcpy(copy, text, length);
        for (uint64_t k = 1 + next_random(&state) % 3; k > 0; k--) damage(copy, &n, &state);
        DiagList diags;
        diag_list_init(&diags, NULL);
        IrUnit *unit = ir_parse(copy, n, &diags);
        IrVerified *verified = unit ? ir_verify(unit, &diags) : NULL;
        if (verified) sound = emits_soundly(verified, &diags) || diag_error_count(&diags) > 0;
        if (!sound) printf("%.*s\n", (int)n, copy);
        ir_unit_free(unit);
        diag_list_free(&diags);
        free(copy);
    }
    check(sound, file, "damaged, is refused or sound");
}

/* ---- deep and wide ---- */

static void check_text(const char *name, const char *text, size_t length, bool verifies) {
    DiagList diags;
    diag_list_init(&diags, NULL);
    IrUnit *unit = ir_parse(text, length, &diags);
    IrVerified *verified = unit ? ir_verify(unit, &diags) : NULL;
    check((verified != NULL) == verifies, name, verifies ? "passes" : "is refused");
    if (verified) check(emits_soundly(verified, &diags), name, "emits");
    ir_unit_free(unit);
    diag_list_free(&diags);
}

/* `depth` conditionals in one another. */
static void check_nesting(uint32_t depth, bool verifies) {
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (!out) return;
    fprintf(out, "fn \"m\" ObjectMethod params 1\n local \"c\" register\n MethodBody {\n");
    for (uint32_t i = 0; i < depth; i++) fprintf(out, "c%u t%u = If c@0 {\nBranchArm {\n", i, i);
    for (uint32_t i = depth; i-- > 0;) fprintf(out, "} -> nil\nBranchArm {\n} -> nil\n}\n");
    fprintf(out, "return nil\n} ends\n");
    fclose(out);
    check_text("nesting", text, length, verifies);
    free(text);
}

/* A chain of conditions, each the condition of the next, and a body too long for near jumps. */
static void check_chain(uint32_t count) {
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (!out) return;
    fprintf(out, "fn \"m\" ObjectMethod params 1\n local \"c\" register\n local \"i\" register versions 1\n "
                 "MethodBody {\n");
    for (uint32_t i = 0; i < count; i++) {
        fprintf(out, "c%u t%u = If %s%u {\nBranchArm {\n} -> true\nBranchArm {\n} -> c@0\n}\n", i, i,
                i ? "t" : "c@", i ? i - 1 : 0);
    }
    fprintf(out, "c%u t%u = Count 1 9 1 index i {\nLoop {\n", count, count);
    for (uint32_t i = 1; i <= count; i++) fprintf(out, "t%u = ADD c@0 i@1\n", count + i);
    fprintf(out, "} -> nil\n}\nreturn t%u\n} ends\n", count - 1);
    fclose(out);
    check_text("chain", text, length, true);
    free(text);
}

static int is_fixture(const struct dirent *entry) {
    size_t n = strlen(entry->d_name);
    return n > 3 && strcmp(entry->d_name + n - 3, ".ir") == 0;
}

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 200;
    struct dirent **names;
    int count = scandir(TEST_DIR "/ir", &names, is_fixture, alphasort);
    check(count > 0, "tests/ir", "has fixtures");
    for (int i = 0; i < count; i++) {
        char path[1024];
        snprintf(path, sizeof path, TEST_DIR "/ir/%s", names[i]->d_name);
        size_t length = 0;
        char *text = read_file(path, &length);
        check(text != NULL, names[i]->d_name, "can be read");
        if (text) check_fixture(names[i]->d_name, text, length);
        if (text) check_damaged(names[i]->d_name, text, length, rounds);
        free(text);
        free(names[i]);
    }
    if (count > 0) free(names);
    check_nesting(1900, true);
    check_nesting(100000, false);
    check_chain(20000);
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
