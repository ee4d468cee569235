/* Strings: storage borders, shared tails, flags, clusters, case mapping. */
#include "tests/unit/test_process.h"
#include "tests/unit/test_suite.h"
#include "vm/bytecode/memory.h"
#include "vm/string.h"
#include "vm/text.h"
#include "vm/unicode.h"

#include <stdlib.h>

enum { ROOTS = 8 };
static Value roots[ROOTS];
static RootSpan span;

static void setup(void) {
    process_setup();
    for (int i = 0; i < ROOTS; i++) roots[i] = V_NIL;
    roots_push(&process, &span, roots, ROOTS);
}

static void teardown(void) {
    roots_pop(&process, &span);
    process_teardown();
}

static Value make(const char *bytes, size_t length) {
    Value v;
    ck_assert_int_eq(string_new(&process, bytes, length, &v), PRIM_OK);
    return v;
}

static void assert_bytes(Value v, const char *expected, size_t expected_length) {
    size_t length;
    const char *bytes = string_bytes(v, &length);
    ck_assert_uint_eq(length, expected_length);
    ck_assert(memcmp(bytes, expected, length) == 0);
    bool simple = utf8_is_simple(expected, length), valid = utf8_is_valid(expected, length, NULL);
    ck_assert_int_eq(string_is_text(v), valid);
    if (string_is_simple(v)) ck_assert(simple);
}

START_TEST(test_storage_borders) {
    char bytes[300];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (char)('a' + i % 26);
    for (size_t n = 0; n < sizeof bytes; n++) {
        Value v = make(bytes, n);
        assert_bytes(v, bytes, n);
        ck_assert(object_kind(v) == (n <= STRING_INLINE_MAX ? KIND_STRING : KIND_STRING_REF));
        ck_assert_uint_eq(string_cluster_count(v), n);
    }
}
END_TEST

START_TEST(test_appending_matches_a_buffer) {
    Text expected = TEXT_INIT;
    static const char *const parts[] = {"a", "é", "日本", "xyz",
                                        "",  "🌍", "\r\n", "end of a longer piece of text"};
    roots[0] = make("", 0);
    for (int i = 0; i < 3000; i++) {
        const char *part = parts[(i * 7) % 8];
        roots[1] = make(part, strlen(part));
        ck_assert_int_eq(string_concat(&process, roots[0], roots[1], &roots[0]), PRIM_OK);
        text_append_cstring(&expected, part);
        if (i % 100 == 0) assert_bytes(roots[0], expected.bytes, expected.length);
    }
    assert_bytes(roots[0], expected.bytes, expected.length);
    text_free(&expected);
}
END_TEST

/* Two appends to one string: only one may take the slack behind it. */
START_TEST(test_appends_do_not_disturb_each_other) {
    char base[100];
    memset(base, 'b', sizeof base);
    roots[0] = make(base, sizeof base);
    roots[1] = make("!", 1);
    ck_assert_int_eq(string_concat(&process, roots[0], roots[1], &roots[2]), PRIM_OK);
    roots[3] = make("one", 3);
    roots[4] = make("two", 3);
    ck_assert_int_eq(string_concat(&process, roots[2], roots[3], &roots[5]), PRIM_OK);
    ck_assert_int_eq(string_concat(&process, roots[2], roots[4], &roots[6]), PRIM_OK);
    char expected[104];
    memcpy(expected, base, 100);
    memcpy(expected + 100, "!one", 4);
    assert_bytes(roots[5], expected, 104);
    memcpy(expected + 100, "!two", 4);
    assert_bytes(roots[6], expected, 104);
    assert_bytes(roots[2], expected, 101);
}
END_TEST

START_TEST(test_halves_of_a_character_join) {
    char head[80];
    memset(head, 'x', sizeof head);
    head[79] = '\xc3';
    roots[0] = make(head, sizeof head);
    roots[1] = make("\xa9!", 2);
    ck_assert(!string_is_text(roots[0]) && !string_is_text(roots[1]));
    ck_assert_int_eq(string_concat(&process, roots[0], roots[1], &roots[2]), PRIM_OK);
    ck_assert(string_is_text(roots[2]));
    ck_assert_int_eq(string_concat(&process, roots[2], roots[1], &roots[3]), PRIM_OK);
    ck_assert(!string_is_text(roots[3]));
    roots[4] = make("\xff", 1);
    ck_assert_int_eq(string_concat(&process, roots[4], roots[2], &roots[5]), PRIM_OK);
    ck_assert(!string_is_text(roots[5]));
}
END_TEST

START_TEST(test_slices) {
    char bytes[2000];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (char)(' ' + i % 90);
    roots[0] = make(bytes, sizeof bytes);
    for (size_t from = 0; from < sizeof bytes; from += 97) {
        for (size_t n = 0; n <= sizeof bytes - from; n += 61) {
            ck_assert_int_eq(string_slice(&process, roots[0], from, n, &roots[1]), PRIM_OK);
            assert_bytes(roots[1], bytes + from, n);
        }
    }
    /* Bytes of half a character are a Binary. */
    roots[2] = make("é!", 3);
    ck_assert_int_eq(string_slice(&process, roots[2], 0, 1, &roots[1]), PRIM_OK);
    ck_assert(!string_is_text(roots[1]));
}
END_TEST

START_TEST(test_many_parts) {
    Text expected = TEXT_INIT;
    for (int i = 0; i < 5; i++) {
        char text[40];
        int n = snprintf(text, sizeof text, "part number %d; ", i * i * 1000);
        roots[i] = make(text, (size_t)n);
        text_append(&expected, text, (size_t)n);
    }
    ck_assert_int_eq(string_concat_many(&process, roots, 5, &roots[6]), PRIM_OK);
    assert_bytes(roots[6], expected.bytes, expected.length);
    text_free(&expected);
}
END_TEST

START_TEST(test_too_long) {
    char *bytes;
    Value v;
    ck_assert_int_eq(string_new_blank(&process, STRING_MAX_BYTES + 1, &bytes, &v), PRIM_RAISE);
}
END_TEST

START_TEST(test_clusters) {
    static const struct {
        const char *text;
        size_t count, first;
    } cases[] = {{"", 0, 0},
                 {"plum", 4, 1},
                 {"Hello 世界 🌍", 10, 1},
                 {"e\u0301x", 2, 3},
                 {"\r\n", 1, 2},
                 {"\n\r", 2, 1},
                 {"👩‍👩‍👧‍👦!", 2, 25},
                 {"🇫🇷🇩🇪", 2, 8},
                 {"\u1100\u1161\u11a8", 1, 9},
                 {"a\u200db", 2, 4},
                 {"#\ufe0f\u20e3", 1, 7}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Value v = make(cases[i].text, strlen(cases[i].text));
        ck_assert_msg(string_cluster_count(v) == cases[i].count, "%s", cases[i].text);
        if (cases[i].count) ck_assert_uint_eq(string_next_cluster(v, 0), cases[i].first);
        ck_assert_uint_eq(string_cluster_offset(v, cases[i].count), strlen(cases[i].text));
        ck_assert_uint_eq(string_cluster_offset(v, 1000), strlen(cases[i].text));
    }
}
END_TEST

START_TEST(test_utf8) {
    static const char *const bad[] = {"\x80",
                                      "\xc0\x80",
                                      "\xc3",
                                      "\xe0\x80\x80",
                                      "\xed\xa0\x80",
                                      "\xf0\x80\x80\x80",
                                      "\xf4\x90\x80\x80",
                                      "\xf5",
                                      "\xff",
                                      "abcdefgh\xc3("};
    size_t offset;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        ck_assert(!utf8_is_valid(bad[i], strlen(bad[i]), &offset));
    ck_assert_uint_eq(offset, 8);
    for (uint32_t c = 0; c < 0x110000; c += 7) {
        if (!unicode_is_scalar(c)) continue;
        char bytes[4];
        uint32_t back;
        unsigned n = utf8_encode(c, bytes);
        ck_assert(utf8_is_valid(bytes, n, NULL));
        ck_assert_uint_eq(utf8_decode(bytes, &back), n);
        ck_assert_uint_eq(back, c);
    }
}
END_TEST

START_TEST(test_case_mapping) {
    static const struct {
        const char *text, *upper, *lower;
    } cases[] = {{"straße", "STRASSE", "straße"},
                 {"ﬁn", "FIN", "ﬁn"},
                 {"ΑΣ", "ΑΣ", "ασ"},
                 {"İ", "İ", "i̇"},
                 {"ŉ", "ʼN", "ŉ"},
                 {"日", "日", "日"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Text t = TEXT_INIT;
        unicode_map_text(&t, cases[i].text, strlen(cases[i].text), UNICODE_TO_UPPER);
        ck_assert(t.length == strlen(cases[i].upper) && memcmp(t.bytes, cases[i].upper, t.length) == 0);
        text_truncate(&t, 0);
        unicode_map_text(&t, cases[i].text, strlen(cases[i].text), UNICODE_TO_LOWER);
        ck_assert(t.length == strlen(cases[i].lower) && memcmp(t.bytes, cases[i].lower, t.length) == 0);
        text_free(&t);
    }
}
END_TEST

START_TEST(test_symbols) {
    Value v;
    roots[0] = make("nil", 3);
    ck_assert_int_eq(string_to_symbol(&process, roots[0], &v), PRIM_OK);
    ck_assert(v == V_NIL);
    roots[0] = make("at:put:", 7);
    ck_assert_int_eq(string_to_symbol(&process, roots[0], &v), PRIM_OK);
    ck_assert(value_is_symbol(v));
    ck_assert_int_eq(string_from_symbol(&process, v, &roots[1]), PRIM_OK);
    assert_bytes(roots[1], "at:put:", 7);
}
END_TEST

START_TEST(test_literals) {
    uint64_t words[32];
    Value v = string_make_literal(
        words, "a literal of more than sixty-four bytes lies inline: literals have no buffer", 76);
    ck_assert(object_kind(v) == KIND_STRING && object_size(v) == string_inline_words(76));
    assert_bytes(v, "a literal of more than sixty-four bytes lies inline: literals have no buffer", 76);
    ck_assert_int_eq(string_slice(&process, v, 0, 70, &roots[0]), PRIM_OK);
    assert_bytes(roots[0], "a literal of more than sixty-four bytes lies inline: literals have no b", 70);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("string");
    TTest const *const tests[] = {test_storage_borders,
                                  test_appending_matches_a_buffer,
                                  test_appends_do_not_disturb_each_other,
                                  test_halves_of_a_character_join,
                                  test_slices,
                                  test_many_parts,
                                  test_too_long,
                                  test_clusters,
                                  test_utf8,
                                  test_case_mapping,
                                  test_symbols,
                                  test_literals};
    suite_case(suite, "string", setup, teardown, 60, tests, COUNT_OF(tests));
    return suite_run(suite);
}
