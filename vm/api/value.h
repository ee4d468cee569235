/* Handles on values: how the files of vm/api make and read them. Not part of the public contract. */
#ifndef BT_API_VALUE_H
#define BT_API_VALUE_H

#include "vm/api/api_internal.h"

typedef struct {
    size_t length;
    char bytes[];
} HandleText;

struct bt_value {
    _Atomic uint32_t refs;
    bt_vm *vm;
    SharedTerm *term;         /* what keeps `value` alive; elements share their collection's */
    Value value;              /* the term's, or one inside it */
    HandleText *_Atomic text; /* for bt_value_text, made when asked for */
};

/* A handle on a copy of the term. NULL: no memory. */
bt_value *handle_of(bt_vm *vm, Value term);
/* A handle on the term, or on a part of it: one more count of it. NULL: no memory. */
bt_value *handle_on(bt_vm *vm, SharedTerm *term, Value value);
/* A process that never runs: a heap to build terms on, for a host thread that has none. Open, build, close;
 * what stays is what handle_of has copied. */
typedef struct Process Process;
void scratch_open(BtVm *vm, Process *p);
void scratch_close(Process *p);
/* Is it an Integer within the range? Sets *out. */
bool integer_fits_int64(Value v, int64_t *out);
/* Is it a handle, and of this VM? */
static inline bool handle_is_of(const bt_value *h, const bt_vm *vm) { return h && h->vm == vm; }
static inline Value handle_value(const bt_value *h) { return h ? h->value : V_NIL; }

#endif
