/* A rules engine: orders come as JSON-like facts of the host, rules are Beamtalk text that a shop keeper
 * writes.
 *
 * Build against an installed copy:  cc rules.c $(pkg-config --cflags --libs beamtalk) -o rules
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "beamtalk.h"

typedef struct {
    const char *customer;
    int64_t items, cents;
} Order;

static const Order ORDERS[] = {{"Ada", 3, 4500}, {"Grace", 12, 98000}, {"Edsger", 1, 250}};
enum { ORDER_COUNT = sizeof ORDERS / sizeof *ORDERS };

static const char RULES[] =
    "Object subclass: Rules\n"
    "  class sealed discountFor: order =>\n"
    "    cents := order at: #cents\n"
    "    cents > 50000 ifTrue: [Shop log: \"big order of {order at: #customer}\". ^10]\n"
    "    (order at: #items) > 2 ifTrue: [^5]\n"
    "    0\n";

static void shop_log(bt_call *call, void *context) {
    (void)context;
    bt_value *text = bt_call_argument(call, 0);
    const char *bytes = bt_value_text(text, NULL);
    printf("log: %s\n", bytes ? bytes : "?");
    bt_value_release(text);
}

/* #{#customer => ..., #items => ..., #cents => ...} */
static bt_value *order_value(bt_vm *vm, const Order *order) {
    bt_value *pairs[] = {bt_symbol(vm, "customer"), bt_string(vm, order->customer, strlen(order->customer)),
                         bt_symbol(vm, "items"),    bt_integer(vm, order->items),
                         bt_symbol(vm, "cents"),    bt_integer(vm, order->cents)};
    bt_value *dictionary = bt_dictionary(vm, pairs, 3);
    for (size_t i = 0; i < 6; i++) bt_value_release(pairs[i]);
    return dictionary;
}

static void fail(const char *what, const bt_result *result) {
    const char *message = bt_result_error_message(result), *hint = bt_result_error_hint(result);
    fprintf(stderr, "%s: %s%s%s\n", what, message ? message : "failed", hint ? "\n  " : "", hint ? hint : "");
    exit(1);
}

int main(void) {
    static const bt_method SHOP[] = {{"log:", shop_log, NULL}};
    const bt_eval_options limits = {.size = sizeof limits, .deadline_ms = 1000, .heap_limit_bytes = 16 << 20};
    bt_vm *vm = bt_vm_new(NULL);
    bt_session *session = bt_session_new(vm);
    bt_result *result = NULL;
    if (!session || bt_vm_define_class(vm, "Shop", SHOP, 1) != BT_OK) return fprintf(stderr, "no VM\n"), 1;
    if (bt_vm_eval(session, RULES, strlen(RULES), &limits, &result) != BT_OK) fail("rules", result);
    bt_result_free(result);
    bt_value *rules = bt_class(vm, "Rules");
    for (size_t i = 0; i < ORDER_COUNT; i++) {
        bt_value *order = order_value(vm, &ORDERS[i]);
        int64_t percent = 0;
        if (bt_send(session, rules, "discountFor:", &order, 1, &limits, &result) != BT_OK)
            fail("rule", result);
        bt_value *answer = bt_result_value(result);
        if (bt_value_int64(answer, &percent) != BT_OK) fail("rule", result);
        printf("%s: %d%%\n", ORDERS[i].customer, (int)percent);
        bt_value_release(answer);
        bt_value_release(order);
        bt_result_free(result);
    }
    bt_value_release(rules);
    bt_session_free(session);
    bt_vm_free(vm);
    return 0;
}
