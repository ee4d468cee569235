/* See toml.h. Recursive descent; the depth is bounded by the grammar: inline tables nest to TOML_DEPTH. */
#include "vm/cli/toml.h"
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOML_DEPTH = 8, PATH_BYTES = 512 };

typedef struct {
    Toml *toml;
    const char *at, *end;
    unsigned line;
} Reader;

/* A path under construction; what stands before `length` when a key is appended is kept by the caller. */
typedef struct {
    char bytes[PATH_BYTES];
    size_t length;
} Path;

static bool error(Reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool error(Reader *r, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(r->toml->error, sizeof r->toml->error, format, arguments);
    va_end(arguments);
    r->toml->error_line = r->line;
    return false;
}

static char peek(const Reader *r) { return r->at < r->end ? *r->at : 0; }

static void skip_blanks(Reader *r) {
    while (peek(r) == ' ' || peek(r) == '\t') r->at++;
    if (peek(r) == '#')
        while (r->at < r->end && *r->at != '\n') r->at++;
}

/* Blanks, comments and line ends. */
static void skip_lines(Reader *r) {
    for (skip_blanks(r); peek(r) == '\n' || peek(r) == '\r'; skip_blanks(r)) r->line += *r->at++ == '\n';
}

static bool end_of_line(Reader *r) {
    skip_blanks(r);
    if (peek(r) == '\r') r->at++;
    if (r->at == r->end || *r->at == '\n') return true;
    return error(r, "unexpected text behind the value");
}

/* ---- strings ---- */

static size_t put_codepoint(char *out, unsigned long c) {
    if (c < 0x80) return out[0] = (char)c, 1;
    size_t more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const unsigned char lead[] = {0, 0xC0, 0xE0, 0xF0};
    out[0] = (char)(lead[more] | c >> (6 * more));
    for (size_t i = 1; i <= more; i++) out[i] = (char)(0x80 | (c >> (6 * (more - i)) & 0x3F));
    return more + 1;
}

static bool unicode_escape(Reader *r, unsigned digits, char **out) {
    char hex[9] = "";
    if ((size_t)(r->end - r->at) < digits) return error(r, "bad escape in a string");
    memcpy(hex, r->at, digits);
    unsigned long c = strtoul(hex, NULL, 16);
    if (strspn(hex, "0123456789abcdefABCDEF") != digits || c == 0 || c > 0x10FFFF || (c >> 11) == 0x1B)
        return error(r, "bad escape in a string");
    r->at += digits;
    *out += put_codepoint(*out, c);
    return true;
}

static bool escape(Reader *r, char **out) {
    static const char letters[] = "btnfre\"\\", bytes[] = "\b\t\n\f\r\033\"\\";
    char c = peek(r);
    r->at++;
    if (c == 'u' || c == 'U') return unicode_escape(r, c == 'u' ? 4 : 8, out);
    const char *known = c ? strchr(letters, c) : NULL;
    if (!known) return error(r, "bad escape in a string");
    *(*out)++ = bytes[known - letters];
    return true;
}

/* "basic" or 'literal'; NULL after an error. Caller frees. */
static char *read_string(Reader *r) {
    char quote = *r->at++, *text = malloc((size_t)(r->end - r->at) + 1), *out = text;
    if (!text) return error(r, "out of memory"), NULL;
    if (r->end - r->at >= 2 && r->at[0] == quote && r->at[1] == quote)
        return free(text), error(r, "multi-line strings are not supported"), NULL;
    while (peek(r) != quote) {
        if (r->at == r->end || *r->at == '\n') return free(text), error(r, "the string has no end"), NULL;
        char c = *r->at++;
        if (c == 0) return free(text), error(r, "NUL byte in a string"), NULL;
        if (c != '\\' || quote == '\'')
            *out++ = c;
        else if (!escape(r, &out))
            return free(text), NULL;
    }
    r->at++;
    *out = 0;
    return text;
}

/* ---- keys ---- */

static bool key_append(Reader *r, Path *path, const char *key, size_t length) {
    if (path->length + length + 2 > sizeof path->bytes) return error(r, "the key is too long");
    if (path->length) path->bytes[path->length++] = '.';
    memcpy(path->bytes + path->length, key, length);
    path->length += length;
    path->bytes[path->length] = 0;
    return true;
}

/* A key, dotted or not, appended to the path. */
static bool read_key(Reader *r, Path *path) {
    for (;;) {
        skip_blanks(r);
        if (peek(r) == '"' || peek(r) == '\'') {
            char *key = read_string(r);
            bool fits = key && key_append(r, path, key, strlen(key));
            free(key);
            if (!fits) return false;
        } else {
            const char *start = r->at;
            while (isalnum((unsigned char)peek(r)) || peek(r) == '_' || peek(r) == '-') r->at++;
            if (r->at == start) return error(r, "expected a key");
            if (!key_append(r, path, start, (size_t)(r->at - start))) return false;
        }
        skip_blanks(r);
        if (peek(r) != '.') return true;
        r->at++;
    }
}

/* ---- values ---- */

static bool read_value(Reader *r, Path *path, unsigned depth);

static char *read_scalar(Reader *r, TomlKind *kind) {
    *kind = TOML_STRING;
    if (peek(r) == '"' || peek(r) == '\'') return read_string(r);
    const char *start = r->at;
    while (peek(r) && !strchr(",]}#\n\r", peek(r))) r->at++;
    size_t length = (size_t)(r->at - start);
    while (length && isspace((unsigned char)start[length - 1])) length--;
    char *text = strndup(start, length);
    if (!text) return error(r, "out of memory"), NULL;
    bool boolean = !strcmp(text, "true") || !strcmp(text, "false");
    *kind = boolean ? TOML_BOOLEAN : TOML_SCALAR;
    bool starts_number = isdigit((unsigned char)*text) || *text == '+' || *text == '-' ||
                         !strcmp(text, "inf") || !strcmp(text, "nan");
    if (boolean || starts_number) return text;
    error(r, *text ? "'%.60s' is not a value; strings stand in double quotes" : "a value is missing", text);
    free(text);
    return NULL;
}

static bool item_add(Reader *r, TomlEntry *entry, char *item) {
    char **grown = realloc(entry->items, (entry->count + 1) * sizeof *grown);
    if (!grown) return free(item), error(r, "out of memory");
    entry->items = grown;
    entry->items[entry->count++] = item;
    return true;
}

static bool read_array(Reader *r, TomlEntry *entry) {
    r->at++;
    for (;;) {
        skip_lines(r);
        if (peek(r) == ']') return r->at++, true;
        if (peek(r) == '[' || peek(r) == '{') return error(r, "only plain values may stand in an array");
        TomlKind kind;
        char *item = read_scalar(r, &kind);
        if (!item || !item_add(r, entry, item)) return false;
        skip_lines(r);
        if (peek(r) == ',')
            r->at++;
        else if (peek(r) != ']')
            return error(r, "expected ',' or ']' in the array");
    }
}

static bool read_inline_table(Reader *r, Path *path, unsigned depth) {
    size_t outer = path->length;
    r->at++;
    skip_blanks(r);
    if (peek(r) == '}') return r->at++, true;
    for (;;) {
        if (!read_key(r, path)) return false;
        if (peek(r) != '=') return error(r, "expected '=' behind the key");
        r->at++;
        if (!read_value(r, path, depth + 1)) return false;
        path->bytes[path->length = outer] = 0;
        skip_blanks(r);
        char c = peek(r);
        r->at++;
        if (c == '}') return true;
        if (c != ',') return r->at--, error(r, "expected ',' or '}' in the inline table");
    }
}

static TomlEntry *entry_new(Reader *r, const char *path) {
    Toml *t = r->toml;
    if (toml_find(t, path)) return error(r, "'%.100s' is given twice", path), NULL;
    if (t->count == t->capacity) {
        size_t capacity = t->capacity ? t->capacity * 2 : 16;
        TomlEntry *grown = realloc(t->entries, capacity * sizeof *grown);
        if (!grown) return error(r, "out of memory"), NULL;
        t->entries = grown;
        t->capacity = capacity;
    }
    TomlEntry *entry = &t->entries[t->count];
    *entry = (TomlEntry){.path = strdup(path), .line = r->line};
    if (!entry->path) return error(r, "out of memory"), NULL;
    t->count++;
    return entry;
}

static bool read_value(Reader *r, Path *path, unsigned depth) {
    skip_blanks(r);
    if (peek(r) == '{')
        return depth < TOML_DEPTH ? read_inline_table(r, path, depth) : error(r, "tables nest too deeply");
    TomlEntry *entry = entry_new(r, path->bytes);
    if (!entry) return false;
    if (peek(r) == '[') return entry->kind = TOML_ARRAY, read_array(r, entry);
    return (entry->text = read_scalar(r, &entry->kind)) != NULL;
}

/* ---- lines ---- */

static bool read_header(Reader *r, Path *table) {
    r->at++;
    *table = (Path){.length = 0};
    if (peek(r) == '[') return error(r, "arrays of tables are not supported");
    if (!read_key(r, table)) return false;
    if (peek(r) != ']') return error(r, "expected ']' behind the name of the table");
    r->at++;
    return end_of_line(r);
}

static bool read_pair(Reader *r, const Path *table) {
    Path path = *table;
    if (!read_key(r, &path)) return false;
    if (peek(r) != '=') return error(r, "expected '=' behind the key");
    r->at++;
    return read_value(r, &path, 0) && end_of_line(r);
}

bool toml_parse(Toml *toml, const char *text, size_t length) {
    *toml = (Toml){.count = 0};
    Reader r = {.toml = toml, .at = text, .end = text + length, .line = 1};
    if (length >= 3 && !memcmp(text, "\xEF\xBB\xBF", 3)) r.at += 3;
    Path table = {.length = 0};
    for (skip_lines(&r); r.at < r.end; skip_lines(&r)) {
        bool read = peek(&r) == '[' ? read_header(&r, &table) : read_pair(&r, &table);
        if (!read) return false;
    }
    return true;
}

void toml_free(Toml *toml) {
    for (size_t i = 0; i < toml->count; i++) {
        TomlEntry *e = &toml->entries[i];
        for (size_t k = 0; k < e->count; k++) free(e->items[k]);
        free(e->items);
        free(e->text);
        free(e->path);
    }
    free(toml->entries);
    *toml = (Toml){.count = 0};
}

const TomlEntry *toml_find(const Toml *toml, const char *path) {
    for (size_t i = 0; i < toml->count; i++)
        if (!strcmp(toml->entries[i].path, path)) return &toml->entries[i];
    return NULL;
}
