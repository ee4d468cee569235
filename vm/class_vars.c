/* Class variables: the one home. See class_vars.h (ADR 0130).
 *
 * "At home" is one comparison: this process's live invocation is of the class whose name self holds. The
 * committed map of a class process is the record at entry while an invocation runs, so an escaping error puts
 * back one pointer and nothing is copied. */
#include <stdio.h>
#include "vm/class_vars.h"
#include "vm/class_internal.h"
#include "vm/dict.h"

/* ---- errors ---- */

static Value method_of_access(const Process *p) { return p->frame ? p->frame->fn->name : V_NIL; }

static PrimStatus raise_state(Process *p, ErrorKind kind, uint32_t class_id, Value name, const char *text,
                              const char *hint) {
    Class *c = class_by_id(p->vm, class_id);
    Value details = error_detail(p, "class_variable", name);
    if (details == V_HOLE) return PRIM_RAISE;
    return error_raise(p, kind, c ? c->name : V_NIL, method_of_access(p), text, hint, details);
}

static PrimStatus raise_with_names(Process *p, ErrorKind kind, uint32_t class_id, Value name,
                                   const char *format, const char *hint_format) {
    Class *c = class_by_id(p->vm, class_id);
    const char *class_text = c ? symbol_text(p->vm, c->name, NULL) : "?",
               *name_text = symbol_text(p->vm, name, NULL);
    char text[1024], hint[1400];
    snprintf(text, sizeof text, format, class_text, name_text);
    snprintf(hint, sizeof hint, hint_format, class_text, class_text, class_text, class_text);
    return raise_state(p, kind, class_id, name, text, hint);
}

static PrimStatus raise_unreachable(Process *p, uint32_t class_id, Value name, bool write) {
    return raise_with_names(p, ERR_class_state_unreachable, class_id, name,
                            write ? "%.250s's class variable %.250s cannot be written from this process"
                                  : "%.250s's class variable %.250s cannot be read from this process",
                            "A block that writes %.250s's class variables ran outside any %.250s class "
                            "method (it was passed to another class's "
                            "class method or an actor, or stored or returned and run later outside %.250s's "
                            "own methods). A block can read "
                            "%.250s's class variables anywhere, as the values they had when the block was "
                            "made, but can only write them "
                            "from its own class's method: return the value and assign it there.");
}

static PrimStatus raise_read_only(Process *p, uint32_t class_id, Value name) {
    return raise_with_names(
        p, ERR_class_state_read_only, class_id, name,
        "%.250s's class variable %.250s cannot be written here: class state is read-only",
        "In a supervisor definition method, a child factory, class initialize: and "
        "performLocally:withArguments: %.250s's "
        "class variables are a read-only snapshot; do the write in a normal class method of %.250s.");
}

static PrimStatus raise_undefined(Process *p, uint32_t class_id, Value name) {
    return raise_with_names(p, ERR_undefined_class_variable, class_id, name,
                            "Undefined class variable on class %.250s: %.250s",
                            "Class variables are not inherited: redeclare it with classState: in %.250s if "
                            "it should have its own");
}

static PrimStatus raise_no_class(Process *p) {
    return error_raise(p, ERR_internal_error, V_NIL, method_of_access(p), NULL,
                       "class variable access without a class as self; please report", V_NIL);
}

/* ---- birth ---- */

void class_vars_init(Process *p) {
    p->class_vars = (ClassVarHome){
        .live_class = V_HOLE, .live = V_HOLE, .entry = V_HOLE, .committed = V_HOLE, .views = V_NIL};
}

/* ---- finding the variables ---- */

bool class_vars_in_invocation(const Process *p, uint32_t class_id) {
    return class_id && p->class_vars.live_class == value_from_class(class_id);
}

/* The read-only variables of this class installed here, or V_HOLE. */
static Value view_of(const Process *p, uint32_t class_id) {
    Value views = p->class_vars.views;
    return views == V_NIL ? V_HOLE : dict_get(p->vm, views, value_from_class(class_id));
}

bool class_vars_present(const Process *p, uint32_t class_id) {
    return class_vars_in_invocation(p, class_id) || view_of(p, class_id) != V_HOLE;
}

/* Slot of the site's name, or -1; the site remembers it per layout. */
static int slot_at(Site *site, const SlotLayout *layout) {
    if (!layout) return -1;
    /* acquire: pairs with the release store below; the word alone carries all there is to know */
    uint64_t word = atomic_load_explicit(&site->word, memory_order_acquire);
    if ((uint32_t)(word >> 32) == layout->id) return (int)(uint32_t)word - 1;
    int slot = slot_layout_find(layout, site->name);
    if (slot >= 0)
        atomic_store_explicit(&site->word, (uint64_t)layout->id << 32 | (uint32_t)(slot + 1),
                              memory_order_release);
    return slot;
}

static bool slot_in(Value record, int slot) {
    return slot >= 0 && value_is_kind(record, KIND_RECORD) && (size_t)slot + 1 < object_size(record);
}

static bool declares(Process *p, uint32_t class_id, Value name) {
    Class *c = class_by_id(p->vm, class_id);
    return c && slot_layout_find(c->class_var_layout, name) >= 0;
}

/* ---- access ---- */

PrimStatus class_vars_get(Process *p, Site *site, Value self_class, Value capture, Value *out) {
    if (!value_is_class(self_class)) return raise_no_class(p);
    uint32_t id = special_payload(self_class);
    if (class_vars_in_invocation(p, id)) {
        Value live = p->class_vars.live;
        int slot = slot_at(site, p->class_vars.layout);
        if (!slot_in(live, slot)) return raise_undefined(p, id, site->name);
        return *out = object_at(live, (size_t)slot + 1), PRIM_OK;
    }
    Value view = view_of(p, id), found = view == V_HOLE ? V_HOLE : dict_get(p->vm, view, site->name);
    if (found != V_HOLE) return *out = found, PRIM_OK;
    if (!declares(p, id, site->name)) return raise_undefined(p, id, site->name);
    if (capture == V_HOLE) return raise_unreachable(p, id, site->name, false);
    return *out = capture, PRIM_OK;
}

PrimStatus class_vars_put(Process *p, Site *site, Value self_class, Value value) {
    if (!value_is_class(self_class)) return raise_no_class(p);
    uint32_t id = special_payload(self_class);
    ClassVarHome *h = &p->class_vars;
    if (h->live_class != self_class) {
        if (!declares(p, id, site->name)) return raise_undefined(p, id, site->name);
        return view_of(p, id) != V_HOLE ? raise_read_only(p, id, site->name)
                                        : raise_unreachable(p, id, site->name, true);
    }
    int slot = slot_at(site, h->layout);
    if (!slot_in(h->live, slot)) return raise_undefined(p, id, site->name);
    return record_write(p, &h->live, (size_t)slot, value) ? PRIM_OK : PRIM_RAISE;
}

PrimStatus class_vars_has(Process *p, Site *site, Value self_class, Value capture, Value *out) {
    Value ignored;
    PrimStatus status = class_vars_get(p, site, self_class, capture, &ignored);
    if (status == PRIM_OK) *out = V_TRUE;
    return status;
}

Value class_vars_capture(Process *p, Value self_class, Value name, Value outer) {
    if (!value_is_class(self_class)) return outer;
    if (self_class == p->class_vars.live_class) {
        int slot = slot_layout_find(p->class_vars.layout, name);
        return slot_in(p->class_vars.live, slot) ? object_at(p->class_vars.live, (size_t)slot + 1) : outer;
    }
    Value view = view_of(p, special_payload(self_class)),
          found = view == V_HOLE ? V_HOLE : dict_get(p->vm, view, name);
    return found == V_HOLE ? outer : found;
}

/* ---- invocation ---- */

PrimStatus class_vars_install(Process *p, Class *c) {
    ClassVarHome *h = &p->class_vars;
    if (h->live_class != V_HOLE)
        return error_raise(p, ERR_internal_error, c->name, V_NIL, NULL,
                           "an invocation of a class runs in this process already; please report", V_NIL);
    h->live_class = value_from_class(c->id);
    h->live_layout = h->layout ? h->layout->id : 0;
    h->live = h->entry = h->committed;
    records_share(p);
    return PRIM_OK;
}

void class_vars_uninstall(Process *p, bool keep) {
    ClassVarHome *h = &p->class_vars;
    h->committed = keep ? h->live : h->entry;
    h->live_class = h->live = h->entry = V_HOLE;
    h->live_layout = 0;
}

/* ---- regions ---- */

void class_vars_restore(Process *p, Value snapshot) {
    ClassVarHome *h = &p->class_vars;
    if (h->live_class == V_HOLE || !value_is_kind(snapshot, KIND_RECORD) ||
        !value_is_kind(h->live, KIND_RECORD))
        return;
    if (object_size(snapshot) == object_size(h->live))
        h->live = snapshot; /* hostile code may have another record there */
}

/* ---- read-only views ---- */

bool class_vars_install_view(Process *p, uint32_t class_id, Value variables) {
    ClassVarHome *h = &p->class_vars;
    Value pair[2] = {value_from_class(class_id), variables};
    RootSpan span;
    roots_push(p, &span, pair, 2);
    Value views = h->views == V_NIL ? dict_from_pairs(p, pair, 1) : dict_put(p, h->views, pair[0], pair[1]);
    roots_pop(p, &span);
    if (views == V_HOLE) return false;
    h->views = views;
    return true;
}

void class_vars_restore_views(Process *p, Value views) {
    if (views == V_NIL || dict_is(views)) p->class_vars.views = views;
}

/* ---- initial values and reload ---- */

bool class_vars_begin_layout(Process *p, const SlotLayout *layout) {
    ClassVarHome *h = &p->class_vars;
    if (h->layout == layout) return true;
    if (layout && layout->count) {
        Value fresh = record_new(p, layout->count);
        if (fresh == V_HOLE) return false;
        for (uint32_t i = 0; i < layout->count; i++) {
            int from = slot_layout_find(h->layout, layout->names[i]);
            if (slot_in(h->committed, from))
                object_words(fresh)[i + 1] = object_at(h->committed, (size_t)from + 1);
        }
        h->committed = fresh;
    } else {
        h->committed = V_HOLE;
    }
    h->layout = layout;
    p->init_next = 0;
    return true;
}

int class_vars_next_unset(Process *p) {
    ClassVarHome *h = &p->class_vars;
    uint32_t count = h->layout ? h->layout->count : 0;
    for (; p->init_next < count; p->init_next++)
        if (object_at(h->committed, p->init_next + 1) == V_HOLE) return (int)p->init_next;
    return -1;
}

bool class_vars_set_initial(Process *p, Value value) {
    return record_write(p, &p->class_vars.committed, p->init_next++, value);
}

/* ---- reading from outside ---- */

static Value by_name(Process *p, Value record, const SlotLayout *layout) {
    Value roots[2] = {V_NIL, record};
    RootSpan span;
    roots_push(p, &span, roots, 2);
    roots[0] = dict_empty(p);
    for (uint32_t i = 0; layout && roots[0] != V_HOLE && i < layout->count; i++) {
        if (!slot_in(roots[1], (int)i)) break;
        roots[0] = dict_put(p, roots[0], layout->names[i], object_at(roots[1], (size_t)i + 1));
    }
    roots_pop(p, &span);
    return roots[0];
}

Value class_vars_committed(Process *p) {
    const ClassVarHome *h = &p->class_vars;
    const Class *c = value_is_class(p->self_ref) ? class_by_id(p->vm, special_payload(p->self_ref)) : NULL;
    if (!h->layout || class_vars_next_unset(p) >= 0) return V_NIL;
    if (h->live_class == V_HOLE && c && h->layout != c->class_var_layout) return V_NIL; /* about to be made */
    return by_name(p, h->live_class != V_HOLE ? h->entry : h->committed, h->layout);
}

Value class_vars_live_map(Process *p) {
    const ClassVarHome *h = &p->class_vars;
    return h->live_class == V_HOLE ? V_NIL : by_name(p, h->live, h->layout);
}

Value class_vars_home(const Process *p) {
    return p->class_vars.live_class == V_HOLE ? V_NIL : p->class_vars.live_class;
}

Value class_vars_views(const Process *p) { return p->class_vars.views; }
