/* Making values for the VM: bt_integer, bt_list and their like. See beamtalk.h. */
#include "vm/api/value.h"
#include "vm/array.h"
#include "vm/class.h"
#include "vm/class_vars.h"
#include "vm/dict.h"
#include "vm/list.h"
#include "vm/number.h"
#include "vm/stack.h"
#include "vm/string.h"
#include "vm/tuple.h"

void scratch_open(BtVm *vm, Process *p) {
    memset(p, 0, sizeof *p);
    p->vm = vm;
    p->self_ref = p->pending_value = p->pending_pid = p->pending_serial = p->resume_value = V_NIL;
    p->pid = p->dictionary = p->link.exit_reason = V_NIL;
    p->state = p->carriers = p->exception = p->rollback_state = V_HOLE;
    class_vars_init(p);
    p->reductions = INT32_MAX;
}

void scratch_close(Process *p) {
    stack_release(p);
    heap_destroy(p);
}

/* ---- immediates and numbers ---- */

bt_value *bt_nil(bt_vm *vm) { return vm ? handle_of(vm, V_NIL) : NULL; }
bt_value *bt_boolean(bt_vm *vm, int truth) { return vm ? handle_of(vm, value_from_bool(truth != 0)) : NULL; }

/* The handle on what `status` says was built, and the end of the scratch process. */
static bt_value *finish(bt_vm *vm, Process *p, PrimStatus status, Value built) {
    bt_value *h = status == PRIM_OK && built != V_HOLE ? handle_of(vm, built) : NULL;
    scratch_close(p);
    return h;
}

bt_value *bt_integer(bt_vm *vm, int64_t integer) {
    if (!vm) return NULL;
    if (int_fits_small(integer)) return handle_of(vm, value_from_int(integer));
    Process p;
    Value v = V_HOLE;
    scratch_open(vm->core, &p);
    PrimStatus status = number_from_int64(&p, integer, &v);
    return finish(vm, &p, status, v);
}

bt_value *bt_integer_from_text(bt_vm *vm, const char *digits) {
    if (!vm || !digits) return NULL;
    Process p;
    Value v = V_HOLE;
    scratch_open(vm->core, &p);
    PrimStatus status = number_parse_integer(&p, digits, strlen(digits), &v);
    return finish(vm, &p, status, v);
}

bt_value *bt_float(bt_vm *vm, double number) {
    if (!vm) return NULL;
    Process p;
    Value v = V_HOLE;
    scratch_open(vm->core, &p);
    PrimStatus status = number_from_double(&p, number, &v);
    return finish(vm, &p, status, v);
}

/* ---- text and names ---- */

bt_value *bt_string(bt_vm *vm, const char *bytes, size_t length) {
    if (!vm || (!bytes && length) || length > STRING_MAX_BYTES) return NULL;
    Process p;
    Value v = V_HOLE;
    scratch_open(vm->core, &p);
    PrimStatus status = string_new(&p, bytes ? bytes : "", length, &v);
    if (status == PRIM_OK) (void)string_flags(v); /* settled here: many threads may read the copy */
    return finish(vm, &p, status, v);
}

bt_value *bt_symbol(bt_vm *vm, const char *text) {
    if (!vm || !text) return NULL;
    Value v = symbol_intern(vm->core, text, strlen(text));
    return v == V_HOLE ? NULL : handle_of(vm, v);
}

bt_value *bt_class(bt_vm *vm, const char *name) {
    if (!vm || !name) return NULL;
    Value symbol = symbol_lookup(vm->core, name, strlen(name));
    const Class *c = symbol == V_HOLE ? NULL : class_by_name(vm->core, symbol);
    return c ? handle_of(vm, value_from_class(c->id)) : NULL;
}

/* ---- collections ---- */

typedef Value (*Builder)(Process *p, const Value *values, size_t count);

static Value build_list(Process *p, const Value *values, size_t count) {
    return list_from_array(p, values, count, V_EMPTY_LIST);
}
static Value build_pairs(Process *p, const Value *values, size_t count) {
    return dict_from_pairs(p, values, count / 2);
}

/* Copies the elements into the process's heap. False: a NULL handle or another VM's, or no memory. */
static bool copy_items(const bt_vm *vm, Process *p, bt_value *const *items, Value *values, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (!handle_is_of(items[i], vm)) return false;
        Value copy = term_copy_into(p, items[i]->value);
        if (copy == V_HOLE) return false;
        values[i] = copy;
    }
    return true;
}

static bt_value *build(bt_vm *vm, Builder builder, bt_value *const *items, size_t count) {
    if (!vm || (!items && count) || count > PTRDIFF_MAX / sizeof(Value) - 1) return NULL;
    Value *values = memory_alloc(vm->memory, (count + 1) * sizeof *values);
    if (!values) return NULL;
    for (size_t i = 0; i < count; i++) values[i] = V_NIL;
    Process p;
    RootSpan span;
    scratch_open(vm->core, &p);
    roots_push(&p, &span, values, count);
    Value built = copy_items(vm, &p, items, values, count) ? builder(&p, values, count) : V_HOLE;
    roots_pop(&p, &span);
    bt_value *h = finish(vm, &p, PRIM_OK, built);
    memory_free(vm->memory, values);
    return h;
}

bt_value *bt_list(bt_vm *vm, bt_value *const *items, size_t count) {
    return build(vm, build_list, items, count);
}
bt_value *bt_array(bt_vm *vm, bt_value *const *items, size_t count) {
    return build(vm, array_from, items, count);
}
bt_value *bt_tuple(bt_vm *vm, bt_value *const *items, size_t count) {
    return build(vm, tuple_from, items, count);
}
bt_value *bt_set(bt_vm *vm, bt_value *const *items, size_t count) {
    return build(vm, set_from, items, count);
}
bt_value *bt_dictionary(bt_vm *vm, bt_value *const *items, size_t pairs) {
    return pairs > SIZE_MAX / 2 ? NULL : build(vm, build_pairs, items, pairs * 2);
}
