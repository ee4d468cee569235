/* Errors that need a text made for the occasion. See prim_text.h. */
#include "vm/prims/prim_text.h"
#include <stdio.h>
#include "vm/print.h"

PrimStatus prim_empty(Process *p, Value receiver, const char *selector, const char *advice) {
    char hint[256];
    const char *name = symbol_text(p->vm, prim_fault_class(p, receiver), NULL);
    snprintf(hint, sizeof hint, "%.100s is empty; %s", name, advice);
    return prim_raise(p, ERR_empty_collection, receiver, selector, hint);
}

void prim_hint_with(Process *p, char *hint, size_t size, const char *text, Value value) {
    Text t = text_for(p);
    text_append_cstring(&t, text);
    print_value(p->vm, &t, value, PRINT_STRING, V_EMPTY_LIST);
    if (t.failed) {
        snprintf(hint, size, "%s", text);
    } else {
        size_t length = t.length < size ? t.length : size - 1;
        while (length < t.length && length > 0 && ((unsigned char)t.bytes[length] & 0xc0) == 0x80) length--;
        memcpy(hint, t.bytes, length);
        hint[length] = 0;
    }
    text_free(&t);
}
