/* Linking: a checked BcUnit becomes a CodeUnit. See code.h.
 *
 * Everything that instructions refer to by constant index is resolved once, here: constants to Values, sites
 * to selector symbols, primitives to functions. A hostile unit is refused by bc_check; what bc_check cannot
 * know (that a name is a symbol constant) is checked here. */
#include <stdio.h>
#include "vm/class_internal.h"
#include "vm/bytecode/memory.h"
#include "vm/capabilities.h"
#include "vm/leaf.h"
#include "vm/number.h"
#include "vm/string.h"

/* ---- constants ---- */

static size_t const_words(const BcConst *k) {
    switch (k->kind) {
    case BC_INT: return int_fits_small(k->u.i) ? 0 : 3;
    case BC_BIGINT: return number_literal_words(k->u.text.bytes, k->u.text.length, 10) + 1;
    case BC_FLOAT: return 2;
    case BC_STRING: return string_inline_words(k->u.text.length);
    default: return 0;
    }
}

static bool make_integer(const Memory *memory, uint64_t *at, const BcConst *k, Value *out, size_t *used) {
    if (k->kind == BC_INT && int_fits_small(k->u.i)) return *out = value_from_int(k->u.i), *used = 0, true;
    if (k->kind == BC_BIGINT) {
        const char *digits = k->u.text.bytes;
        size_t length = k->u.text.length;
        bool negative = length && *digits == '-';
        return number_literal_make(memory, at, digits + negative, length - negative, 10, negative, out, used);
    }
    char digits[24];
    uint64_t magnitude = k->u.i < 0 ? 0 - (uint64_t)k->u.i : (uint64_t)k->u.i;
    int n = snprintf(digits, sizeof digits, "%llu", (unsigned long long)magnitude);
    return number_literal_make(memory, at, digits, (size_t)n, 10, k->u.i < 0, out, used);
}

static Value make_float(uint64_t *at, double d) {
    Value v;
    if (number_free_double(d, &v)) return v;
    at[0] = header_make(CLASS_ID_Float, KIND_FLOAT, 0, 2);
    memcpy(at + 1, &d, sizeof d);
    return value_from_object(at);
}

static bool text_is(BcText t, const char *word) {
    return t.length == strlen(word) && memcmp(t.bytes, word, t.length) == 0;
}

static Value make_symbol(BtVm *vm, BcText t) {
    if (text_is(t, "nil")) return V_NIL;
    if (text_is(t, "true")) return V_TRUE;
    if (text_is(t, "false")) return V_FALSE;
    return symbol_intern(vm, t.bytes, t.length);
}

static bool make_const(CodeUnit *unit, const BcConst *k, uint64_t *at, Value *out) {
    size_t used = 0;
    switch (k->kind) {
    case BC_INT:
    case BC_BIGINT:
        if (!make_integer(unit->vm->memory, at, k, out, &used)) return false;
        break;
    case BC_FLOAT: *out = make_float(at, k->u.f); break;
    case BC_STRING: *out = string_make_literal(at, k->u.text.bytes, k->u.text.length); break;
    case BC_SYMBOL:
        *out = make_symbol(unit->vm, k->u.text);
        if (*out == V_HOLE) return false;
        break;
    default:
        *out = V_HOLE; /* a class: resolved at each use, by the constant's text */
        return true;
    }
    /* Literals of an evaluation are copied on use, so they must not look as if they could be shared. */
    if (value_is_ptr(*out) && object_words(*out) == at) {
        uint64_t flag = header_make(0, (ObjectKind)0, OBJ_LITERAL, 0), *header = object_words(*out);
        *header = unit->transient ? *header & ~flag : *header | flag;
    }
    return true;
}

static bool link_consts(CodeUnit *unit) {
    const BcUnit *bc = unit->bc;
    size_t words = 0;
    for (uint32_t i = 0; i < bc->const_count; i++) words += const_words(&bc->consts[i]);
    unit->consts = memory_alloc(unit->vm->memory, (bc->const_count + 1) * sizeof(Value));
    unit->literal_words = memory_zalloc(unit->vm->memory, (words + 1) * sizeof(uint64_t));
    if (!unit->consts || !unit->literal_words) return false;
    uint64_t *at = unit->literal_words;
    for (uint32_t i = 0; i < bc->const_count; i++) {
        if (!make_const(unit, &bc->consts[i], at, &unit->consts[i])) return false;
        at += const_words(&bc->consts[i]);
    }
    return true;
}

/* ---- functions ---- */

static bool symbol_const(const CodeUnit *unit, uint32_t index, Value *out) {
    if (index >= unit->bc->const_count) return false;
    BcConstKind kind = unit->bc->consts[index].kind;
    if (kind == BC_CLASS) return *out = make_symbol(unit->vm, unit->bc->consts[index].u.text), *out != V_HOLE;
    *out = unit->consts[index];
    return kind == BC_SYMBOL && value_is_symbol(*out);
}

static bool link_sites(CodeUnit *unit, Function *fn) {
    for (uint32_t i = 0; i < fn->bc->site_count; i++) {
        const BcSite *from = &fn->bc->sites[i];
        Site *to = &fn->sites[i];
        if (!symbol_const(unit, from->name, &to->name)) return false;
        to->argc = from->argc;
        to->flags = from->flags;
        to->capture = from->capture;
    }
    return true;
}

static PrimFn find_prim(const CodeUnit *unit, Instr instr) {
    uint32_t k = instr_c(instr);
    if (k >= unit->bc->const_count || unit->bc->consts[k].kind != BC_SYMBOL) return NULL;
    BcText name = unit->bc->consts[k].u.text;
    int index = prim_find(name.bytes, name.length);
    return index < 0 ? NULL : capability_checked(unit->vm, PRIM_TABLE[index].fn);
}

PrimFn code_prim(const Function *fn, Instr instr) { return find_prim(fn->unit, instr); }

static bool link_function(CodeUnit *unit, Function *fn, const BcFunction *bc, Site *sites) {
    *fn = (Function){.unit = unit,
                     .code = bc->code,
                     .sites = sites,
                     .consts = unit->consts,
                     .bc = bc,
                     .class_name = V_NIL,
                     .param_count = bc->param_count,
                     .register_count = bc->register_count,
                     .capture_count = (uint16_t)bc->capture_count,
                     .kind = bc->kind,
                     .home_kind = bc->home_kind,
                     .flags = (uint8_t)(bc->flags | (unit->transient ? FN_TRANSIENT : 0)),
                     .class_side = bc->class_side};
    if (bc->class_name.length) {
        fn->class_name = symbol_intern(unit->vm, bc->class_name.bytes, bc->class_name.length);
        if (fn->class_name == V_HOLE) return false;
    }
    if (bc->code_count && instr_op(bc->code[0]) == OP_PRIM) fn->prim = find_prim(unit, bc->code[0]);
    leaf_recognise(fn);
    for (uint32_t i = 0; i < bc->capture_count; i++) {
        Value name;
        bool named = bc->captures[i].kind == CAP_STATE || bc->captures[i].kind == CAP_CLASS_VAR;
        if (named && !symbol_const(unit, bc->captures[i].name, &name)) return false;
    }
    return symbol_const(unit, bc->name, &fn->name) && link_sites(unit, fn);
}

static bool link_functions(CodeUnit *unit) {
    const BcUnit *bc = unit->bc;
    size_t site_count = 0;
    for (uint32_t i = 0; i < bc->function_count; i++) site_count += bc->functions[i].site_count;
    unit->function_count = bc->function_count;
    unit->functions = memory_zalloc(unit->vm->memory, (bc->function_count + 1) * sizeof(Function));
    unit->sites = memory_zalloc(unit->vm->memory, (site_count + 1) * sizeof(Site));
    if (!unit->functions || !unit->sites) return false;
    Site *sites = unit->sites;
    for (uint32_t i = 0; i < bc->function_count; i++) {
        if (!link_function(unit, &unit->functions[i], &bc->functions[i], sites)) return false;
        sites += bc->functions[i].site_count;
    }
    return true;
}

/* ---- lines ---- */

/* Made when first asked for, by whoever asks first: few programs ever do. NULL: no memory. */
static const LineTable *lines_of(CodeUnit *unit) {
    /* acquire: pairs with the exchange below, by which another thread published what it wrote */
    LineTable *table = atomic_load_explicit(&unit->lines, memory_order_acquire);
    if (table) return table;
    BcText source = unit->bc->source;
    uint32_t count = 1;
    for (uint32_t i = 0; i < source.length; i++) count += source.bytes[i] == '\n';
    table = memory_alloc(unit->vm->memory, sizeof *table + count * sizeof *table->starts);
    if (!table) return NULL;
    table->starts[0] = 0;
    table->count = 1;
    for (uint32_t i = 0; i < source.length; i++)
        if (source.bytes[i] == '\n') table->starts[table->count++] = i + 1;
    LineTable *other = NULL;
    if (atomic_compare_exchange_strong_explicit(&unit->lines, &other, table, memory_order_acq_rel,
                                                memory_order_acquire))
        return table;
    memory_free(unit->vm->memory, table);
    return other;
}

static __attribute__((noinline)) uint32_t find_line(const Function *fn, uint32_t at) {
    const BcFunction *bc = fn->bc;
    if (!bc->line_count || !fn->unit->bc->source.length) return 0;
    uint32_t low = 0, high = bc->line_count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (bc->lines[middle].pc <= at)
            low = middle;
        else
            high = middle;
    }
    const LineTable *table = lines_of(fn->unit);
    if (!table) return 0;
    uint32_t line = line_index(table->starts, table->count, bc->lines[low].offset) + 1;
    _Atomic uint64_t *memo = (_Atomic uint64_t *)(uintptr_t)&fn->line_memo;
    atomic_store_explicit(memo, ((uint64_t)at + 1) << 32 | line, memory_order_relaxed);
    return line;
}

uint32_t function_line(const Function *fn, const Instr *pc) {
    if (pc < fn->code) return 0;
    uint32_t at = (uint32_t)(pc - fn->code);
    /* relaxed: the word alone carries all there is to know. Traces are taken where traces were taken before.
     */
    uint64_t memo = atomic_load_explicit(&fn->line_memo, memory_order_relaxed);
    return memo >> 32 == (uint64_t)at + 1 ? (uint32_t)memo : find_line(fn, at);
}

/* ---- the unit ---- */

static void unit_free(CodeUnit *unit) {
    const Memory *memory = unit->vm->memory;
    memory_free(memory, unit->consts);
    memory_free(memory, unit->literal_words);
    memory_free(memory, unit->functions);
    memory_free(memory, unit->sites);
    memory_free(memory,
                atomic_load_explicit(&unit->lines, memory_order_relaxed)); /* nobody else has it any more */
    memory_free(memory, unit);
}

static bool abi_matches(const BcUnit *bc, char *reason, size_t reason_size) {
    if (bc->format_version == BC_FORMAT_VERSION && bc->class_var_abi == BC_CLASS_VAR_ABI) return true;
    snprintf(reason, reason_size,
             "abi_mismatch: module '%.*s' has format %u and class-variable ABI %u, this VM wants %u and %u; "
             "recompile it",
             (int)bc->name.length, bc->name.bytes ? bc->name.bytes : "", bc->format_version,
             bc->class_var_abi, BC_FORMAT_VERSION, BC_CLASS_VAR_ABI);
    return false;
}

CodeUnit *code_link(BtVm *vm, BcUnit *bc, bool transient, char *reason, size_t reason_size) {
    if (!abi_matches(bc, reason, reason_size) || (!bc->checked && !bc_check(bc, reason, reason_size)))
        return NULL;
    bc->checked = true;
    CodeUnit *unit = memory_zalloc(vm->memory, sizeof *unit);
    if (!unit) return snprintf(reason, reason_size, "out of memory"), NULL;
    atomic_init(&unit->refs, 1);
    unit->transient = transient;
    unit->vm = vm;
    unit->bc = bc;
    unit->name = bc->name.length ? symbol_intern(vm, bc->name.bytes, bc->name.length) : V_NIL;
    if (!link_consts(unit) || !link_functions(unit)) {
        snprintf(reason, reason_size,
                 "module '%.*s' cannot be linked: a name is no symbol, or memory is short",
                 (int)bc->name.length, bc->name.bytes ? bc->name.bytes : "");
        return unit_free(unit), NULL;
    }
    units_add(vm, unit);
    return unit;
}

void code_retain(CodeUnit *unit) {
    /* relaxed: whoever retains holds a count already */
    atomic_fetch_add_explicit(&unit->refs, 1, memory_order_relaxed);
}

void code_release(CodeUnit *unit) {
    /* acq_rel: the last one must see all that others did with the unit before they let go */
    if (atomic_fetch_sub_explicit(&unit->refs, 1, memory_order_acq_rel) != 1) return;
    units_remove(unit->vm, unit);
    bc_unit_free(unit->bc);
    unit_free(unit);
}

void units_add(BtVm *vm, CodeUnit *unit) {
    ClassTable *t = vm->classes;
    pthread_mutex_lock(&t->units_lock);
    unit->next = t->units;
    unit->previous = NULL;
    if (t->units) t->units->previous = unit;
    t->units = unit;
    pthread_mutex_unlock(&t->units_lock);
}

void units_remove(BtVm *vm, CodeUnit *unit) {
    ClassTable *t = vm->classes;
    pthread_mutex_lock(&t->units_lock);
    if (unit->next) unit->next->previous = unit->previous;
    if (unit->previous)
        unit->previous->next = unit->next;
    else
        t->units = unit->next;
    pthread_mutex_unlock(&t->units_lock);
}
