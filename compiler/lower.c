/* Functions, versions, variables and frames: what every part of lowering builds with. */
#include "compiler/lower.h"

#include <string.h>

/* ---- constants ---- */

uint32_t lower_symbol(Lower *l, const char *name) {
    void **slot = name_map_slot(&l->symbols, l->a->arena, name);
    if (slot && *slot) return (uint32_t)(uintptr_t)*slot - 1;
    uint32_t index = ir_const_symbol(l->unit, name, intern_length(name));
    if (slot) *slot = (void *)(uintptr_t)(index + 1);
    return index;
}

/* A name that lives as long as the IR; the compilation's own names go with its arena. */
static const char *ir_name(Lower *l, const char *name) {
    void **slot = name ? name_map_slot(&l->texts, l->a->arena, name) : NULL;
    if (!slot) return NULL;
    if (!*slot) *slot = ir_text(l->unit, name, intern_length(name));
    return *slot;
}

uint32_t lower_text(Lower *l, const char *text) { return ir_const_string(l->unit, text, strlen(text)); }

/* ---- statements ---- */

IrStmt *lower_stmt(Lower *l, IrStmtKind kind, Span span) {
    if (l->fn->frame->ends) {
        l->fn->frame = ir_frame_new(l->unit, l->fn->frame->kind);
        l->fn->dead = true;
    }
    return ir_stmt_add(l->unit, l->fn->frame, kind, span);
}

IrAtom *lower_atoms(Lower *l, uint32_t count) {
    return count ? ir_alloc(l->unit, count * sizeof(IrAtom)) : NULL;
}

IrAtom lower_bind(Lower *l, IrOp op, IrAtom *operands, uint32_t count, uint32_t imm, uint8_t flags,
                  Span span) {
    IrStmt *s = lower_stmt(l, STMT_BIND, span);
    s->op = op;
    s->operands = operands;
    s->operand_count = count;
    s->imm = imm;
    s->flags = flags;
    s->temp = l->fn->ir->temp_count++;
    return ATOM(ATOM_TEMP, s->temp);
}

IrAtom lower_bind0(Lower *l, IrOp op, uint32_t imm, Span span) {
    return lower_bind(l, op, NULL, 0, imm, 0, span);
}

IrAtom lower_bind1(Lower *l, IrOp op, IrAtom x, uint32_t imm, Span span) {
    IrAtom *operands = lower_atoms(l, 1);
    operands[0] = x;
    return lower_bind(l, op, operands, 1, imm, 0, span);
}

IrAtom lower_bind2(Lower *l, IrOp op, IrAtom x, IrAtom y, uint32_t imm, Span span) {
    IrAtom *operands = lower_atoms(l, 2);
    operands[0] = x;
    operands[1] = y;
    return lower_bind(l, op, operands, 2, imm, 0, span);
}

IrAtom lower_send_named(Lower *l, IrOp op, const char *selector, IrAtom *operands, uint32_t count,
                        Span span) {
    return lower_bind(l, op, operands, count, lower_symbol(l, selector), 0, span);
}

IrAtom lower_send1(Lower *l, IrOp op, const char *selector, IrAtom receiver, Span span) {
    return lower_bind1(l, op, receiver, lower_symbol(l, selector), span);
}

IrAtom lower_send2(Lower *l, IrOp op, const char *selector, IrAtom receiver, IrAtom argument, Span span) {
    return lower_bind2(l, op, receiver, argument, lower_symbol(l, selector), span);
}

/* ---- locals and versions ---- */

static void versions_grow(Lower *l, FnLower *fn, uint32_t count) {
    if (count <= fn->capacity) return;
    uint32_t capacity = fn->capacity ? fn->capacity * 2 : 16;
    while (capacity < count) capacity *= 2;
    uint32_t *current = ir_alloc(l->unit, capacity * sizeof *current);
    uint32_t *counter = ir_alloc(l->unit, capacity * sizeof *counter);
    if (fn->capacity) {
        memcpy(current, fn->current, fn->capacity * sizeof *current);
        memcpy(counter, fn->counter, fn->capacity * sizeof *counter);
    }
    fn->current = current;
    fn->counter = counter;
    fn->capacity = capacity;
}

static uint32_t local_new(Lower *l, const char *name, IrLocalMode mode) {
    FnLower *fn = l->fn;
    uint32_t local = ir_local_new(l->unit, fn->ir, ir_name(l, name), mode);
    versions_grow(l, fn, local + 1);
    return local;
}

uint32_t lower_local_plain(Lower *l, const char *name) { return local_new(l, name, LOCAL_REGISTER); }

/* What is never reached binds nothing. */
uint32_t lower_mint(Lower *l, uint32_t local) {
    FnLower *fn = l->fn;
    return fn->dead ? fn->current[local] : (fn->current[local] = ++fn->counter[local]);
}

/* The current function reaches into the carriers of the one that `var` belongs to: it is stateful, it works
 * only where they are open. Answers how many functions from it on outwards open carriers before that one. */
static uint32_t reach_carrier(const Lower *l, const Var *var) {
    uint32_t level = 0;
    for (FnLower *fn = l->fn; fn->parent && fn->facts != var->fn; fn = fn->parent) {
        fn->ir->flags |= FN_WRITES_OUTER;
        level += fn->facts->opens_carriers;
    }
    return level;
}

/* Gives a variable of the current function its local. */
static void place(Lower *l, Var *var) {
    uint32_t local = local_new(l, var->name, var->carrier ? LOCAL_CARRIER : LOCAL_REGISTER);
    IrLocal *ir = &l->fn->ir->locals[local];
    if (var->carrier) {
        var->carrier_index = l->fn->ir->carrier_count++;
        ir->carrier = var->carrier_index;
    }
    if (var->kind == VAR_SELF) ir->family = FAMILY_SELFVT;
    var->atom = (IrAtom){ATOM_LOCAL, local, 0};
    var->placed = true;
}

/* The local of the function around that a carrier belongs to. */
static IrOwner owner_of(const Lower *l, const Var *var) {
    const FnLower *fn = l->fn;
    while (fn->parent && fn->facts != var->fn) fn = fn->parent;
    return (IrOwner){fn->index, var->atom.index};
}

/* The local of a block that stands for a carrier of a function around it. */
static uint32_t outer_local(Lower *l, Var *var) {
    FnLower *fn = l->fn;
    int32_t known = ptr_set_index(&fn->outers, var);
    if (known >= 0) return fn->outer_locals[known];
    bool lossy = fn->facts->lossy;
    uint32_t local = local_new(l, var->name, lossy ? LOCAL_REGISTER : LOCAL_CARRIER);
    IrLocal *ir = &fn->ir->locals[local];
    if (!lossy) {
        ir->carrier = var->carrier_index;
        ir->outer = true;
        ir->owner = owner_of(l, var);
        ir->level = reach_carrier(l, var);
    }
    if (var->kind == VAR_SELF) ir->family = FAMILY_SELFVT;
    if (fn->outers.count == fn->outer_capacity) {
        uint32_t capacity = fn->outer_capacity ? fn->outer_capacity * 2 : 8;
        uint32_t *grown = ir_alloc(l->unit, capacity * sizeof *grown);
        if (fn->outer_capacity) memcpy(grown, fn->outer_locals, fn->outer_capacity * sizeof *grown);
        fn->outer_locals = grown;
        fn->outer_capacity = capacity;
    }
    fn->outer_locals[fn->outers.count] = local;
    ptr_set_add(&fn->outers, l->a->arena, var);
    return local;
}

uint32_t lower_local(Lower *l, Var *var) {
    if (var->fn != l->fn->facts) return outer_local(l, var);
    if (!var->placed) place(l, var);
    return var->atom.index;
}

static IrAtom snap(Lower *l, uint32_t local, Span span) {
    IrStmt *s = lower_stmt(l, STMT_SNAP, span);
    s->local = local;
    s->version = l->fn->current[local];
    s->temp = l->fn->ir->temp_count++;
    return ATOM(ATOM_TEMP, s->temp);
}

IrAtom lower_refresh(Lower *l, IrAtom atom) {
    if (atom.kind == ATOM_LOCAL) atom.version = l->fn->current[atom.index];
    return atom;
}

IrAtom lower_keep(Lower *l, IrAtom atom, Span span) {
    return atom.kind == ATOM_LOCAL ? snap(l, atom.index, span) : atom;
}

static void set_local(Lower *l, uint32_t local, IrAtom value, Span span) {
    IrStmt *s = lower_stmt(l, STMT_SET, span);
    s->operands = lower_atoms(l, 1);
    s->operands[0] = value;
    s->operand_count = 1;
    s->local = local;
    s->version = lower_mint(l, local);
}

/* ---- captures ---- */

static uint32_t capture_add(Lower *l, FnLower *fn, const void *key, BcCaptureKind kind) {
    IrFunction *ir = fn->ir;
    if (ir->capture_count == ir->capture_capacity) {
        uint32_t capacity = ir->capture_capacity ? ir->capture_capacity * 2 : 4;
        BcCapture *captures = ir_alloc(l->unit, capacity * sizeof *captures);
        IrAtom *atoms = ir_alloc(l->unit, capacity * sizeof *atoms);
        IrOwner *owners = ir_alloc(l->unit, capacity * sizeof *owners);
        if (ir->capture_count) {
            memcpy(captures, ir->captures, ir->capture_count * sizeof *captures);
            memcpy(atoms, ir->capture_atoms, ir->capture_count * sizeof *atoms);
            memcpy(owners, ir->capture_owners, ir->capture_count * sizeof *owners);
        }
        ir->captures = captures;
        ir->capture_atoms = atoms;
        ir->capture_owners = owners;
        ir->capture_capacity = capacity;
    }
    ir->captures[ir->capture_count] = (BcCapture){.kind = (uint8_t)kind, .fallback = BC_NO_CAPTURE};
    ptr_set_add(&fn->captured, l->a->arena, key);
    return ir->capture_count++;
}

static uint32_t capture_of_var(Lower *l, FnLower *fn, const Var *var) {
    int32_t known = ptr_set_index(&fn->captured, var);
    return known >= 0 ? (uint32_t)known : capture_add(l, fn, var, CAP_REGISTER);
}

uint32_t lower_capture_name(Lower *l, FnLower *fn, const char *name, BcCaptureKind kind) {
    int32_t known = ptr_set_index(&fn->captured, name);
    if (known >= 0) return (uint32_t)known;
    uint32_t index = capture_add(l, fn, name, kind);
    fn->ir->captures[index].name = lower_symbol(l, name);
    return index;
}

/* Says where each capture of `child` comes from, here where its closure is made. */
static void resolve_captures(Lower *l, FnLower *child, Span span) {
    FnLower *fn = l->fn;
    for (uint32_t i = 0; i < child->ir->capture_count; i++) {
        BcCapture *c = &child->ir->captures[i];
        if (c->kind == CAP_STATE || c->kind == CAP_CLASS_VAR) {
            if (fn->facts->parent)
                c->fallback = (uint16_t)lower_capture_name(l, fn, child->captured.items[i], c->kind);
            continue;
        }
        Var *var = (Var *)(uintptr_t)child->captured.items[i];
        bool own = var->fn == fn->facts;
        if (!own && !ptr_set_has(&fn->facts->writes, var)) {
            c->kind = CAP_CAPTURE;
            c->index = (uint16_t)capture_of_var(l, fn, var);
        } else if (var->carrier && (!own || (var->placed && var->atom.kind == ATOM_LOCAL))) {
            c->kind = CAP_CARRIER;
            c->index = (uint16_t)var->carrier_index;
            c->fallback = (uint16_t)reach_carrier(l, var);
            child->ir->capture_owners[i] = owner_of(l, var);
        } else {
            child->ir->capture_atoms[i] = lower_read(l, var, span);
        }
    }
}

/* ---- variables ---- */

static IrAtom read_own(Lower *l, Var *var, Span span) {
    if (!var->placed) place(l, var);
    if (var->atom.kind != ATOM_LOCAL) return var->atom;
    uint32_t local = var->atom.index;
    if (var->kind == VAR_BINDING && !var->exists && l->fn->current[local] == var->arrived)
        return lower_bind0(l, IR_BINDING, var->binding, span);
    if (var->carrier) return snap(l, local, span);
    return (IrAtom){ATOM_LOCAL, local, l->fn->current[local]};
}

IrAtom lower_read(Lower *l, Var *var, Span span) {
    FnFacts *facts = l->fn->facts;
    if (var->kind == VAR_SELF && !var->writes) return ATOM(ATOM_SELF, 0);
    if (var->fn == facts) return read_own(l, var, span);
    if (ptr_set_has(&facts->writes, var)) {
        uint32_t local = outer_local(l, var);
        if (facts->lossy) return (IrAtom){ATOM_LOCAL, local, l->fn->current[local]};
        return snap(l, local, span);
    }
    return lower_bind0(l, IR_CAPTURE, capture_of_var(l, l->fn, var), span);
}

IrAtom lower_write(Lower *l, Var *var, IrAtom value, Span span) {
    uint32_t local = lower_local(l, var);
    set_local(l, local, value, span);
    if (l->fn->ir->locals[local].mode == LOCAL_CARRIER) return value;
    return (IrAtom){ATOM_LOCAL, local, l->fn->current[local]};
}

/* A temp is a place in an expression: what has a name is a local, so that operands stand in the order of
 * their evaluation (ir.h). */
void lower_param(Lower *l, Var *var, IrAtom value, Span span) {
    if (var->writes || var->carrier || value.kind == ATOM_TEMP) {
        var->placed = false;
        set_local(l, lower_local(l, var), value, span);
        return;
    }
    var->atom = lower_keep(l, value, span);
    var->placed = true;
}

IrAtom lower_lasting(Lower *l, IrAtom value, Span span) {
    if (value.kind != ATOM_TEMP) return lower_keep(l, value, span);
    uint32_t local = lower_local_plain(l, l->a->names.empty);
    set_local(l, local, value, span);
    return (IrAtom){ATOM_LOCAL, local, l->fn->current[local]};
}

IrAtom lower_self(Lower *l, Span span) {
    Var *self = l->fn->facts->home->self_var;
    return self ? lower_read(l, self, span) : ATOM(ATOM_SELF, 0);
}

/* ---- operands ---- */

void lower_operands_begin(Lower *l, Operands *o, uint32_t capacity) {
    o->count = 0;
    o->atoms = lower_atoms(l, capacity);
    o->at = capacity <= sizeof o->small / sizeof *o->small ? o->small
                                                           : ir_alloc(l->unit, capacity * sizeof *o->at);
}

void lower_operands_add(Lower *l, Operands *o, IrAtom atom) {
    o->at[o->count] = l->fn->frame->stmt_count;
    o->atoms[o->count++] = atom;
}

/* From right to left, so that positions further left stay right. */
void lower_operands_settle(Lower *l, Operands *o, Span span) {
    FnLower *fn = l->fn;
    if (fn->frame->ends) return;
    for (uint32_t i = o->count; i-- > 0;) {
        IrAtom *atom = &o->atoms[i];
        if (atom->kind != ATOM_LOCAL || atom->version == fn->current[atom->index]) continue;
        IrFrame *frame = fn->frame;
        IrStmt *s = ir_stmt_add(l->unit, frame, STMT_SNAP, span);
        s->local = atom->index;
        s->version = atom->version;
        s->temp = fn->ir->temp_count++;
        uint32_t at = o->at[i] < frame->stmt_count ? o->at[i] : frame->stmt_count - 1;
        memmove(frame->stmts + at + 1, frame->stmts + at,
                (frame->stmt_count - 1 - at) * sizeof *frame->stmts);
        frame->stmts[at] = s;
        *atom = ATOM(ATOM_TEMP, s->temp);
    }
}

/* ---- constructs ---- */

IrStmt *lower_construct_begin(Lower *l, IrConstructKind kind, uint32_t operand_count, uint32_t frames,
                              Span span) {
    IrStmt *s = lower_stmt(l, STMT_CONSTRUCT, span);
    s->construct_kind = kind;
    s->construct = l->fn->ir->construct_count++;
    s->temp = l->fn->ir->temp_count++;
    s->imm = BC_NONE;
    s->operand_count = operand_count;
    s->operands = lower_atoms(l, operand_count);
    s->frame_count = frames;
    s->frames = ir_alloc(l->unit, frames * sizeof *s->frames);
    s->snapshot = s->restore = kind == CONSTRUCT_ONDO || kind == CONSTRUCT_ENSURE;
    return s;
}

static uint32_t *thread_locals(Lower *l, const PtrSet *threads) {
    if (!threads->count) return NULL;
    uint32_t *locals = ir_alloc(l->unit, threads->count * sizeof *locals);
    for (uint32_t i = 0; i < threads->count; i++)
        locals[i] = lower_local(l, (Var *)(uintptr_t)threads->items[i]);
    return locals;
}

FrameMark lower_frame_enter(Lower *l, IrStmt *construct, uint32_t index, IrFrameKind kind,
                            const PtrSet *threads) {
    FrameMark mark = {.outer = l->fn->frame, .frame = ir_frame_new(l->unit, kind), .dead = l->fn->dead};
    construct->frames[index] = mark.frame;
    mark.frame->thread_count = threads->count;
    mark.frame->threads = thread_locals(l, threads);
    if (threads->count) mark.saved = ir_alloc(l->unit, threads->count * sizeof *mark.saved);
    for (uint32_t i = 0; i < threads->count; i++) {
        uint32_t local = mark.frame->threads[i];
        mark.saved[i] = l->fn->current[local];
        lower_mint(l, local);
    }
    l->fn->frame = mark.frame;
    return mark;
}

void lower_frame_leave(Lower *l, FrameMark *mark, IrAtom value) {
    if (!mark->frame->ends) mark->frame->value = value;
    l->fn->frame = mark->outer;
    l->fn->dead = mark->dead;
    for (uint32_t i = 0; i < mark->frame->thread_count; i++)
        l->fn->current[mark->frame->threads[i]] = mark->saved[i];
}

/* Rebinds are dead at the end of a method, but not where something is read after the last expression. */
static bool may_discard(const Lower *l) {
    const FnFacts *facts = l->fn->facts;
    return facts->home == facts && !facts->builder && !facts->script && !lower_sets_up_self(l, facts);
}

IrAtom lower_construct_end(Lower *l, IrStmt *construct, const PtrSet *threads, Position pos) {
    construct->thread_count = threads->count;
    construct->threads = thread_locals(l, threads);
    if (threads->count && pos == POS_LAST && may_discard(l)) {
        lower_stmt(l, STMT_DISCARD, construct->span)->construct = construct->construct;
    } else {
        for (uint32_t i = 0; i < threads->count; i++) {
            IrStmt *s = lower_stmt(l, STMT_REBIND, construct->span);
            s->construct = construct->construct;
            s->local = construct->threads[i];
            s->version = lower_mint(l, s->local);
        }
    }
    return ATOM(ATOM_TEMP, construct->temp);
}

/* ---- returns ---- */

/* The value of a session variable here; the hole if it has none. */
static IrAtom binding_value(Lower *l, const Var *var, Span span) {
    uint32_t local = var->atom.index;
    if (var->carrier) return snap(l, local, span);
    return (IrAtom){ATOM_LOCAL, local, l->fn->current[local]};
}

/* A script answers a Tuple of the value and its session variables. */
static IrAtom script_answer(Lower *l, IrAtom value, Span span) {
    const PtrSet *bindings = &l->a->bindings;
    IrAtom *operands = lower_atoms(l, bindings->count + 1);
    operands[0] = value;
    for (uint32_t i = 0; i < bindings->count; i++)
        operands[i + 1] = binding_value(l, (Var *)(uintptr_t)bindings->items[i], span);
    return lower_bind(l, IR_TUPLE, operands, bindings->count + 1, 0, 0, span);
}

static void note_home(const Lower *l) {
    FnLower *home = l->fn;
    while (home->parent && home->facts != home->facts->home) home = home->parent;
    if (!l->fn->dead) home->ir->flags |= FN_NLR_HOME;
}

static void leave(Lower *l, IrStmtKind kind, IrAtom value, Span span) {
    IrStmt *s = lower_stmt(l, kind, span);
    if (kind == STMT_NONLOCAL) note_home(l);
    s->operands = lower_atoms(l, 1);
    s->operands[0] = value;
    s->operand_count = 1;
    l->fn->frame->ends = true;
}

static IrAtom class_of(Lower *l, IrAtom value, Span span) {
    return lower_send1(l, IR_SEND, l->a->names.class_, value, span);
}

IrAtom lower_instance_or_self(Lower *l, IrAtom value, Span span) {
    static const PtrSet NONE = {0};
    value = lower_keep(l, value, span);
    IrAtom own = class_of(l, lower_self(l, span), span);
    IrAtom same = lower_bind2(l, IR_SEQ, class_of(l, value, span), own, 0, span);
    IrStmt *s = lower_construct_begin(l, CONSTRUCT_IF, 1, 2, span);
    s->operands[0] = same;
    FrameMark mark = lower_frame_enter(l, s, 0, FRAME_BranchArm, &NONE);
    lower_frame_leave(l, &mark, value);
    mark = lower_frame_enter(l, s, 1, FRAME_BranchArm, &NONE);
    lower_frame_leave(l, &mark, lower_self(l, span));
    return lower_construct_end(l, s, &NONE, POS_VALUE);
}

bool lower_sets_up_self(const Lower *l, const FnFacts *facts) {
    return facts->test_self && facts->self_var->writes && facts->selector == l->a->names.set_up;
}

void lower_answer(Lower *l, IrAtom value, Span span) {
    FnFacts *facts = l->fn->facts;
    if (facts->script) value = script_answer(l, value, span);
    if (lower_sets_up_self(l, facts)) value = lower_instance_or_self(l, value, span);
    leave(l, facts->parent ? STMT_NONLOCAL : STMT_RETURN, value, span);
}

/* ---- functions ---- */

static void bind_params(Lower *l, NodeList params, Span span) {
    FnLower *fn = l->fn;
    for (uint32_t i = 0; i < params.count; i++) local_new(l, params.items[i]->as.param.name, LOCAL_REGISTER);
    fn->ir->param_count = params.count;
    for (uint32_t i = 0; i < params.count; i++) {
        Var *var = params.items[i]->facts;
        if (!var) continue; /* `self` of a builder block, or a generated parameter */
        IrAtom value = {ATOM_LOCAL, i, 0};
        if (var->carrier) {
            set_local(l, lower_local(l, var), value, span);
        } else {
            var->atom = value;
            var->placed = true;
        }
    }
}

/* Session variables come in registers; those that a closure writes move to carriers. */
static void bind_bindings(Lower *l) {
    for (uint32_t i = 0; i < l->a->bindings.count; i++) {
        Var *var = (Var *)(uintptr_t)l->a->bindings.items[i];
        uint32_t local = local_new(l, var->name, LOCAL_BINDING);
        l->fn->ir->locals[local].binding = i;
        var->atom = (IrAtom){ATOM_LOCAL, local, 0};
        var->placed = true;
    }
    for (uint32_t i = 0; i < l->a->bindings.count; i++) {
        Var *var = (Var *)(uintptr_t)l->a->bindings.items[i];
        if (!var->carrier) continue;
        IrAtom value = var->atom;
        place(l, var);
        set_local(l, var->atom.index, value, var->span);
    }
}

/* Where the ^ of a block arrives: the script answers as at its end. */
static void bind_landing(Lower *l, Span span) {
    PtrSet carriers = {0};
    for (uint32_t i = 0; i < l->a->bindings.count; i++) {
        Var *var = (Var *)(uintptr_t)l->a->bindings.items[i];
        if (var->carrier) ptr_set_add(&carriers, l->a->arena, var);
    }
    IrStmt *s = lower_construct_begin(l, CONSTRUCT_HOME, 0, 1, span);
    s->exception = l->fn->ir->temp_count++;
    FrameMark mark = lower_frame_enter(l, s, 0, FRAME_Landing, &carriers);
    leave(l, STMT_RETURN, script_answer(l, ATOM(ATOM_TEMP, s->exception), span), span);
    lower_frame_leave(l, &mark, NIL_ATOM);
    lower_construct_end(l, s, &carriers, POS_VALUE);
}

static void begin_script(Lower *l, Span span) {
    bind_bindings(l);
    if (l->fn->facts->nlr_home) bind_landing(l, span);
    for (uint32_t i = 0; i < l->a->bindings.count; i++) {
        Var *var = (Var *)(uintptr_t)l->a->bindings.items[i];
        var->arrived = l->fn->current[var->atom.index];
    }
}

/* A block that a foreign function gets writes copies of its own. */
static void copy_outers(Lower *l, Span span) {
    const PtrSet *writes = &l->fn->facts->writes;
    for (uint32_t i = 0; i < writes->count; i++) {
        Var *var = (Var *)(uintptr_t)writes->items[i];
        IrAtom value = lower_bind0(l, IR_CAPTURE, capture_of_var(l, l->fn, var), span);
        set_local(l, outer_local(l, var), value, span);
    }
}

FnLower *lower_function_begin(Lower *l, const FunctionSpec *spec) {
    FnLower *fn = ir_alloc(l->unit, sizeof *fn);
    FnFacts *facts = spec->facts;
    IrFunction *ir = ir_function_new(l->unit, &fn->index);
    *fn = (FnLower){.parent = l->fn, .facts = facts, .ir = ir, .index = fn->index};
    ir->kind = spec->kind;
    ir->home_kind = facts->home->kind;
    ir->name = ir_name(l, spec->name ? spec->name : l->a->names.empty);
    ir->class_name = ir_name(l, facts->class_name);
    ir->class_side = facts->class_side;
    ir->flags = spec->flags;
    ir->span = spec->span;
    ir->body = fn->frame =
        ir_frame_new(l->unit, facts->parent || facts->builder ? FRAME_BlockBody : FRAME_MethodBody);
    fn->tail_calls = !facts->parent && !facts->script && !facts->nlr_home && !facts->any_carrier &&
                     !lower_sets_up_self(l, facts);
    l->fn = fn;
    bind_params(l, spec->params, spec->span);
    if (facts->script) begin_script(l, spec->span);
    if (facts->lossy) copy_outers(l, spec->span);
    if (!facts->parent && facts->self_var && facts->self_var->writes)
        set_local(l, lower_local(l, facts->self_var), ATOM(ATOM_SELF, 0), spec->span);
    return fn;
}

uint32_t lower_function_end(Lower *l, FnLower *fn, IrAtom value) {
    if (l->fn->frame == fn->ir->body && !fn->ir->body->ends) {
        if (fn->facts->script) value = script_answer(l, value, fn->ir->span);
        if (lower_sets_up_self(l, fn->facts)) value = lower_instance_or_self(l, value, fn->ir->span);
        if (fn->facts->parent)
            fn->ir->body->value = value;
        else
            leave(l, STMT_RETURN, value, fn->ir->span);
    }
    if (fn->facts->opens_carriers && !fn->ir->carrier_count) { /* levels of the blocks inside count on them */
        uint32_t unused = local_new(l, l->a->names.empty, LOCAL_CARRIER);
        fn->ir->locals[unused].carrier = fn->ir->carrier_count++;
    }
    if (fn->ir->carrier_count) fn->ir->flags |= FN_HAS_CARRIERS;
    if (fn->facts->keeps_carriers) fn->ir->flags |= FN_KEEPS;
    if (fn->facts->only_reads && (fn->ir->flags & FN_WRITES_OUTER)) fn->ir->flags |= FN_ONLY_READS;
    for (uint32_t i = 0; i < fn->ir->local_count; i++) fn->ir->locals[i].versions = fn->counter[i];
    l->fn = fn->parent;
    return fn->index;
}

static void emit_stateful_failure(Lower *l, Span span) {
    IrStmt *s = lower_stmt(l, STMT_FAIL, span);
    l->fn->ir->flags |= FN_WRITES_OUTER;
    s->flags = FAIL_STATEFUL_BLOCK;
    s->imm = lower_text(l, "value");
    l->fn->frame->ends = true;
}

IrAtom lower_closure(Lower *l, Node *block) {
    if (lower_is_dead(l)) return NIL_ATOM; /* a function that nobody makes a block of has no home */
    BlockFacts *b = block->facts;
    FnFacts *facts = b->closure;
    NodeList params = block->as.block.params;
    if (facts->builder) params = (NodeList){params.items + 1, params.count - 1};
    FunctionSpec spec = {.facts = facts,
                         .kind = facts->builder ? facts->kind : FN_BLOCK,
                         .name = facts->selector,
                         .flags = facts->builder ? FN_BUILDER : 0,
                         .params = params,
                         .span = block->span};
    FnLower *child = lower_function_begin(l, &spec);
    IrAtom value = NIL_ATOM;
    if (facts->writes.count && !facts->channel)
        emit_stateful_failure(l, block->span);
    else
        value = lower_statements(l, block->as.block.body, facts->builder ? POS_LAST : POS_VALUE);
    uint32_t index = lower_function_end(l, child, value);
    resolve_captures(l, child, block->span);
    return lower_bind0(l, IR_CLOSURE, index, block->span);
}
