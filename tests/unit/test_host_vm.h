/* A VM with one session, as a host program has them, and what tests of the C interface say most. */
#ifndef BT_TEST_HOST_VM_H
#define BT_TEST_HOST_VM_H

#include <string.h>
#include "beamtalk.h"
#include "tests/unit/test_suite.h"

static bt_vm *vm;
static bt_session *session;

static void setup(void) {
    vm = bt_vm_new(NULL);
    session = bt_session_new(vm);
    ck_assert_ptr_nonnull(session);
}

static void teardown(void) {
    bt_session_free(session);
    bt_vm_free(vm);
}

static const bt_eval_options QUICK = {.size = sizeof QUICK, .deadline_ms = 20000};

static inline bt_value *eval(const char *source) {
    bt_result *r = NULL;
    bt_status status = bt_vm_eval(session, source, strlen(source), &QUICK, &r);
    ck_assert_msg(status == BT_OK, "%s: %s", source, bt_result_error_message(r));
    bt_value *v = bt_result_value(r);
    bt_result_free(r);
    ck_assert_ptr_nonnull(v);
    return v;
}

/* Sends and answers the value; NULL if the status is not BT_OK. */
static inline bt_value *sent(const bt_value *receiver, const char *selector, bt_value *const *args,
                             size_t count) {
    bt_result *r = NULL;
    bt_status status = bt_send(session, receiver, selector, args, count, &QUICK, &r);
    bt_value *v = status == BT_OK ? bt_result_value(r) : NULL;
    bt_result_free(r);
    return v;
}

/* The value prints so; gives the handle back. */
static inline void prints(bt_value *v, const char *text) {
    bt_value *printed = sent(v, "printString", NULL, 0);
    ck_assert_str_eq(bt_value_text(printed, NULL), text);
    bt_value_release(printed);
    bt_value_release(v);
}

#endif
