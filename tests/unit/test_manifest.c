/* beamtalk.toml: the TOML subset, and what a package may say. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tests/unit/test_suite.h"
#include "vm/cli/manifest.h"

static Toml toml;

static bool parse(const char *text) { return toml_parse(&toml, text, strlen(text)); }
static void setup(void) { toml = (Toml){.count = 0}; }
static void teardown(void) { toml_free(&toml); }

static void expect_text(const char *path, TomlKind kind, const char *text) {
    const TomlEntry *e = toml_find(&toml, path);
    ck_assert_ptr_nonnull(e);
    ck_assert_int_eq(e->kind, kind);
    ck_assert_str_eq(e->text, text);
}

START_TEST(values_and_paths) {
    ck_assert(parse("\xEF\xBB\xBF# comment\r\n top = 'it''s' # not a string\n") == false);
    toml_free(&toml);
    ck_assert(
        parse("top = 'C:\\dir' # comment\r\n"
              "[package]\n  name=\"a\\tb\\u00e9\\U0001F600\"\nyes = true\nno=false\ncount = 12\n"
              "[ a . \"b c\" ]\nx.y = \"#\"\n"
              "[dependencies]\njson = { path = \"../json\", opts = { deep = \"1\" } } # end\nnone = {}"));
    expect_text("top", TOML_STRING, "C:\\dir");
    expect_text("package.name", TOML_STRING, "a\tb\xC3\xA9\xF0\x9F\x98\x80");
    expect_text("package.yes", TOML_BOOLEAN, "true");
    expect_text("package.no", TOML_BOOLEAN, "false");
    expect_text("package.count", TOML_SCALAR, "12");
    expect_text("a.b c.x.y", TOML_STRING, "#");
    expect_text("dependencies.json.path", TOML_STRING, "../json");
    expect_text("dependencies.json.opts.deep", TOML_STRING, "1");
    ck_assert_int_eq(toml_find(&toml, "dependencies.json.path")->line, 10);
    ck_assert_ptr_null(toml_find(&toml, "dependencies.none"));
    ck_assert_uint_eq(toml.count, 8);
}
END_TEST

START_TEST(arrays_span_lines) {
    ck_assert(parse("a = [ # first\n \"x\" , 'y',\n 3,\n] \nb = []\nc = 1"));
    const TomlEntry *a = toml_find(&toml, "a");
    ck_assert_int_eq(a->kind, TOML_ARRAY);
    ck_assert_uint_eq(a->count, 3);
    ck_assert_str_eq(a->items[0], "x");
    ck_assert_str_eq(a->items[1], "y");
    ck_assert_str_eq(a->items[2], "3");
    ck_assert_uint_eq(toml_find(&toml, "b")->count, 0);
    ck_assert_int_eq(toml_find(&toml, "c")->line, 6);
}
END_TEST

START_TEST(errors_have_a_line) {
    static const struct {
        const char *text, *error;
        unsigned line;
    } cases[] = {{"a = \"open\n", "no end", 1},
                 {"\na = ", "a value is missing", 2},
                 {"\n\na = word", "'word' is not a value", 3},
                 {"a = 1 2\nb = \"x\" y", "unexpected text", 2},
                 {"= 1", "expected a key", 1},
                 {"a", "expected '='", 1},
                 {"[a\nb = 1", "expected ']'", 1},
                 {"[[a]]", "arrays of tables", 1},
                 {"a = [1 \n 2]", "expected ',' or ']'", 2},
                 {"a = [[1]]", "only plain values", 1},
                 {"a = [1\n, 2", "expected ',' or ']'", 2},
                 {"a = { b = 1", "expected ','", 1},
                 {"a = { b 1 }", "expected '='", 1},
                 {"a = \"\"\"x\"\"\"", "multi-line", 1},
                 {"a = \"\\q\"", "bad escape", 1},
                 {"a = \"\\u12\"", "bad escape", 1},
                 {"a = \"\\uD800\"", "bad escape", 1},
                 {"a = 1\n[b]\n[c]\nx = 1\nx = 2", "'c.x' is given twice", 5},
                 {"a={a={a={a={a={a={a={a={a={a=1}}}}}}}}}}", "too deeply", 1}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        ck_assert_msg(!parse(cases[i].text), "%s", cases[i].text);
        ck_assert_msg(strstr(toml.error, cases[i].error) != NULL, "%s: %s", cases[i].text, toml.error);
        ck_assert_msg(toml.error_line == cases[i].line, "%s: line %u", cases[i].text, toml.error_line);
        toml_free(&toml);
    }
}
END_TEST

/* Every prefix, and every byte replaced: an answer, never a read outside the text. */
START_TEST(damaged_text_is_refused_or_read) {
    static const char whole[] = "[a.\"b\"]\nk = { x = \"\\u00e9\", y = [1, 'z'] }\nl = [\n\"q\" # c\n]\n";
    static const char bytes[] = "\"'\\[]{}=.#\n,\0\xFFu";
    for (size_t n = 0; n < sizeof whole; n++) {
        char *exact = malloc(n + 1);
        memcpy(exact, whole, n);
        (void)toml_parse(&toml, exact, n);
        toml_free(&toml);
        for (size_t b = 0; n && b < sizeof bytes; b++) {
            exact[n - 1] = bytes[b];
            (void)toml_parse(&toml, exact, n);
            toml_free(&toml);
        }
        free(exact);
    }
}
END_TEST

/* ---- the manifest ---- */

static Manifest *read_text(const char *text) {
    char directory[] = "/tmp/bt_manifest_XXXXXX", path[64];
    ck_assert_ptr_nonnull(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/" MANIFEST_NAME, directory);
    FILE *f = fopen(path, "w");
    fputs(text, f);
    fclose(f);
    fflush(stderr);
    Manifest *m = manifest_read(directory);
    unlink(path);
    rmdir(directory);
    return m;
}

START_TEST(a_package_is_read) {
    Manifest *m = read_text("[package]\nname = \"my_app\"\nversion = \"1.20.3\"\nstrict-deps = true\n"
                            "[application]\nsupervisor = \"AppSup\"\n[diagnostics]\nunused = \"off\"\n"
                            "[dependencies]\n[elsewhere]\nx = [1]\n");
    ck_assert_ptr_nonnull(m);
    ck_assert_str_eq(m->name, "my_app");
    ck_assert_str_eq(m->version, "1.20.3");
    ck_assert_str_eq(m->supervisor, "AppSup");
    ck_assert_ptr_null(m->description);
    ck_assert(m->strict_deps);
    manifest_free(m);
}
END_TEST

START_TEST(wrong_packages_are_refused) {
    static const char *const wrong[] = {
        "",
        "[package]\nname = \"x\"\n",
        "[package]\nversion = \"1.0.0\"\n",
        "[package]\nname = x\n",
        "[package]\nname = 3\nversion = \"1.0.0\"\n",
        "[package]\nname = \"x\"\nversion = \"1.0\"\n",
        "[package]\nname = \"x\"\nversion = \"1.02.0\"\n",
        "[package]\nname = \"x\"\nversion = \"1.2.0.0\"\n",
        "[package]\nname = \"X\"\nversion = \"1.0.0\"\n",
        "[package]\nname = \"x\"\nversion = \"1.0.0\"\n[diagnostics]\nfoo = \"off\"\n",
        "[package]\nname = \"x\"\nversion = \"1.0.0\"\n[diagnostics]\ntype = \"on\"\n",
        "[package]\nname = \"x\"\nversion = \"1.0.0\"\n[application]\nsupervisor = \"lower\"\n"};
    for (size_t i = 0; i < COUNT_OF(wrong); i++) ck_assert_msg(!read_text(wrong[i]), "%s", wrong[i]);
}
END_TEST

START_TEST(package_names) {
    static const char *const good[] = {"a", "a1_b", "my_app"};
    static const char *const bad[] = {"",
                                      "A",
                                      "1a",
                                      "a-b",
                                      "a b",
                                      "_a",
                                      "kernel",
                                      "stdlib",
                                      "beamtalk",
                                      "ssl",
                                      "a2345678901234567890123456789012345678901234567890123456789012345"};
    for (size_t i = 0; i < COUNT_OF(good); i++) ck_assert_ptr_null(package_name_fault(good[i]));
    for (size_t i = 0; i < COUNT_OF(bad); i++) ck_assert_ptr_nonnull(package_name_fault(bad[i]));
}
END_TEST

int main(void) {
    Suite *suite = suite_create("manifest");
    const TTest *reader[] = {values_and_paths, arrays_span_lines, errors_have_a_line,
                             damaged_text_is_refused_or_read};
    const TTest *package[] = {a_package_is_read, wrong_packages_are_refused, package_names};
    suite_case(suite, "toml", setup, teardown, 20, reader, COUNT_OF(reader));
    suite_case(suite, "package", NULL, NULL, 20, package, COUNT_OF(package));
    return suite_run(suite);
}
