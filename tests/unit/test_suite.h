/* The main part of a Check program: its cases, and one run whose outcome is the exit status. */
#ifndef BT_TEST_SUITE_H
#define BT_TEST_SUITE_H

#include <check.h>

#define COUNT_OF(tests) (sizeof(tests) / sizeof *(tests))

/* A case of these tests, each between setup and teardown (NULL: none). Loop tests may be added to the answer.
 */
static inline TCase *suite_case(Suite *suite, const char *name, SFun setup, SFun teardown, double seconds,
                                TTest const *const *tests, size_t count) {
    TCase *c = tcase_create(name);
    if (setup) tcase_add_checked_fixture(c, setup, teardown);
    tcase_set_timeout(c, seconds);
    for (size_t i = 0; i < count; i++) tcase_add_test(c, tests[i]);
    suite_add_tcase(suite, c);
    return c;
}

static inline int suite_run(Suite *suite) {
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}

#endif
