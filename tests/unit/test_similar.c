/* "Did you mean": what counts as near. */
#include "tests/unit/test_suite.h"
#include "vm/bytecode/similar.h"

#include <string.h>

static const char *nearest(const char *name, const char *const *candidates) {
    Nearest n;
    nearest_begin(&n, name, strlen(name));
    for (; *candidates; candidates++) nearest_try(&n, *candidates, strlen(*candidates));
    return n.best ? n.best : "";
}

START_TEST(test_near) {
    const char *const names[] = {"count", "counter", "printString", "at:put:", "a", "max:", NULL};
    ck_assert_str_eq(nearest("cuont", names), "count");
    ck_assert_str_eq(nearest("countr", names), "count"); /* the first of equals */
    ck_assert_str_eq(nearest("prntString", names), "printString");
    ck_assert_str_eq(nearest("at:pt:", names), "at:put:");
    ck_assert_str_eq(nearest("mx:", names), "max:");
}
END_TEST

START_TEST(test_far) {
    const char *const names[] = {"count", "b", "ab", NULL};
    ck_assert_str_eq(nearest("discount", names), "");
    ck_assert_str_eq(nearest("count", names), ""); /* itself */
    ck_assert_str_eq(nearest("x", names), "");
    ck_assert_str_eq(nearest("xy", names), "");
    char longest[400];
    memset(longest, 'x', sizeof longest);
    Nearest n;
    nearest_begin(&n, longest, sizeof longest);
    nearest_try(&n, longest, sizeof longest - 1);
    ck_assert_ptr_null(n.best);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("similar");
    TTest const *const tests[] = {test_near, test_far};
    suite_case(suite, "similar", NULL, NULL, 10, tests, COUNT_OF(tests));
    return suite_run(suite);
}
