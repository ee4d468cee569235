/* Regular expressions over PCRE2. See regex.h. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "vm/regex.h"
#include <pcre2.h>
#include <stdio.h>
#include "vm/bytecode/memory.h"

#define MATCH_LIMIT 10000000u
#define DEPTH_LIMIT 100000u
#define HEAP_LIMIT_KIB 65536u

struct Regex {
    const Memory *memory;
    pcre2_general_context *context;
    pcre2_match_context *limits;
    pcre2_code *code;
};

static void *take(size_t size, void *memory) { return memory_alloc(memory, size); }
static void give(void *at, void *memory) { memory_free(memory, at); }

static uint32_t pcre_options(unsigned options) {
    return (options & REGEX_CASELESS ? PCRE2_CASELESS : 0) |
           (options & REGEX_MULTILINE ? PCRE2_MULTILINE : 0) | (options & REGEX_DOTALL ? PCRE2_DOTALL : 0) |
           (options & REGEX_EXTENDED ? PCRE2_EXTENDED : 0) | (options & REGEX_UNGREEDY ? PCRE2_UNGREEDY : 0);
}

void regex_free(Regex *r) {
    if (!r) return;
    if (r->code) pcre2_code_free(r->code);
    if (r->limits) pcre2_match_context_free(r->limits);
    if (r->context) pcre2_general_context_free(r->context);
    memory_free(r->memory, r);
}

Regex *regex_compile(const Memory *memory, const char *pattern, size_t length, unsigned options, char *reason,
                     size_t reason_size) {
    Regex *r = memory_zalloc(memory, sizeof *r);
    snprintf(reason, reason_size, "out of memory");
    if (!r) return NULL;
    r->memory = memory;
    r->context = pcre2_general_context_create(take, give, (void *)(uintptr_t)memory);
    if (r->context) r->limits = pcre2_match_context_create(r->context);
    pcre2_compile_context *compiling = r->context ? pcre2_compile_context_create(r->context) : NULL;
    if (!r->limits || !compiling) return regex_free(r), NULL;
    pcre2_set_match_limit(r->limits, MATCH_LIMIT);
    pcre2_set_depth_limit(r->limits, DEPTH_LIMIT);
    pcre2_set_heap_limit(r->limits, HEAP_LIMIT_KIB);
    int error;
    PCRE2_SIZE where;
    r->code = pcre2_compile((PCRE2_SPTR)pattern, length, pcre_options(options), &error, &where, compiling);
    pcre2_compile_context_free(compiling);
    if (r->code) return r;
    PCRE2_UCHAR text[200];
    if (pcre2_get_error_message(error, text, sizeof text) < 0) text[0] = 0;
    snprintf(reason, reason_size, "%s at position %zu", (const char *)text, (size_t)where);
    regex_free(r);
    return NULL;
}

bool regex_scan_open(RegexScan *s, const Regex *r, const char *bytes, size_t length) {
    *s = (RegexScan){.regex = r, .bytes = bytes, .length = length};
    s->match = pcre2_match_data_create_from_pattern(r->code, r->context);
    return s->match != NULL;
}

void regex_scan_close(RegexScan *s) {
    if (s->match) pcre2_match_data_free(s->match);
    s->match = NULL;
}

static RegexStep outcome_of(RegexScan *s, int groups) {
    if (groups > 0) {
        s->offsets = pcre2_get_ovector_pointer(s->match);
        /* \K behind a look-ahead can set the start behind the end: going on from there might never end. */
        if (s->offsets[0] > s->offsets[1]) return REGEX_LIMIT;
        s->group_count = (size_t)groups;
        s->at = s->offsets[1];
        s->retry = s->offsets[0] == s->offsets[1];
        return REGEX_MATCH;
    }
    if (groups == PCRE2_ERROR_NOMATCH) return REGEX_END;
    return groups == PCRE2_ERROR_NOMEMORY ? REGEX_NO_MEMORY : REGEX_LIMIT;
}

static int match_at(RegexScan *s, uint32_t options) {
    return pcre2_match(s->regex->code, (PCRE2_SPTR)s->bytes, s->length, s->at, options, s->match,
                       s->regex->limits);
}

RegexStep regex_scan_next(RegexScan *s) {
    if (s->retry) {
        RegexStep step = outcome_of(s, match_at(s, PCRE2_NOTEMPTY_ATSTART | PCRE2_ANCHORED));
        if (step != REGEX_END) return step;
        s->at++;
        s->retry = false;
    }
    return s->at > s->length ? REGEX_END : outcome_of(s, match_at(s, 0));
}
