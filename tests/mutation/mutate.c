/* See mutate.h. Every mutation is one function over a place of the unit: it says whether it applies there,
 * and does it if asked. */
#include "tests/mutation/mutate.h"

#include <stdlib.h>
#include <string.h>

#include "tests/mutation/renumber.h"

const char *const MUTATION_NAMES[] = {
#define MUTATION(name, doc) #name,
#include "tests/mutation/mutations.def"
#undef MUTATION
};
const char *const MUTATION_DOCS[] = {
#define MUTATION(name, doc) doc,
#include "tests/mutation/mutations.def"
#undef MUTATION
};

typedef enum { AT_STMT, AT_ATOM, AT_FRAME, AT_FUNCTION, AT_LOCAL, AT_CAPTURE } PlaceKind;
typedef struct {
    PlaceKind kind;
    IrUnit *unit;
    IrFunction *fn;
    IrFrame *frame;           /* STMT: it stands there; FRAME: itself */
    IrStmt *stmt, *construct; /* construct: that owns the frame */
    IrAtom *atom;
    uint32_t index;  /* of the statement, local or capture */
    uint32_t second; /* chooses */
    bool apply;
} Place;

typedef bool (*Mutator)(Place *p);

/* ---- looking around ---- */

static IrStmt *stmt_behind(const Place *p, uint32_t by) {
    return p->index + by < p->frame->stmt_count ? p->frame->stmts[p->index + by] : NULL;
}

static bool mints(const IrStmt *s) { return s->kind == STMT_SET || s->kind == STMT_REBIND; }

static void remove_stmt(IrFrame *frame, uint32_t index) {
    memmove(frame->stmts + index, frame->stmts + index + 1,
            (frame->stmt_count - index - 1) * sizeof *frame->stmts);
    frame->stmt_count--;
}

static void insert_stmt(Place *p, uint32_t index, IrStmt *s) {
    IrFrame *frame = p->frame;
    (void)ir_stmt_add(p->unit, frame, STMT_BIND, s->span);
    memmove(frame->stmts + index + 1, frame->stmts + index,
            (frame->stmt_count - 1 - index) * sizeof *frame->stmts);
    frame->stmts[index] = s;
}

static IrStmt *copy_stmt(Place *p, const IrStmt *s) {
    IrStmt *copy = ir_alloc(p->unit, sizeof *copy);
    *copy = *s;
    return copy;
}

static void remove_thread(uint32_t *threads, uint32_t *count, uint32_t local) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < *count; i++)
        if (threads[i] != local) threads[kept++] = threads[i];
    *count = kept;
}

/* Every atom of a function, captures of the blocks that it makes included. */
typedef void (*AtomVisitor)(IrAtom *atom, void *context);
static void each_atom_of(IrUnit *unit, IrFrame *frame, AtomVisitor visit, void *context) {
    for (uint32_t i = 0; i < frame->stmt_count; i++) {
        IrStmt *s = frame->stmts[i];
        for (uint32_t k = 0; k < s->operand_count; k++) visit(&s->operands[k], context);
        if (s->kind == STMT_BIND && s->op == IR_CLOSURE) {
            IrFunction *block = unit->functions[s->imm];
            for (uint32_t k = 0; k < block->capture_count; k++)
                if (block->captures[k].kind == CAP_REGISTER) visit(&block->capture_atoms[k], context);
        }
        for (uint32_t k = 0; k < s->frame_count; k++) each_atom_of(unit, s->frames[k], visit, context);
    }
    if (!frame->ends) visit(&frame->value, context);
}

typedef struct {
    uint32_t temp;
    IrAtom by;
    uint32_t found;
} Replacing;
static void replace_temp(IrAtom *atom, void *context) {
    Replacing *r = context;
    if (atom->kind != ATOM_TEMP || atom->index != r->temp) return;
    r->found++;
    *atom = r->by;
}
static void count_temp(IrAtom *atom, void *context) {
    Replacing *r = context;
    r->found += atom->kind == ATOM_TEMP && atom->index == r->temp;
}

/* The newest version of a local where statement `index` of the frame begins; false: not written before it. */
static bool version_before(const IrFrame *frame, uint32_t index, uint32_t local, uint32_t *version) {
    for (uint32_t i = index; i-- > 0;)
        if (mints(frame->stmts[i]) && frame->stmts[i]->local == local)
            return *version = frame->stmts[i]->version, true;
    return false;
}

/* ---- rebinds and assignments ---- */

static bool is_rebind(const Place *p) { return p->stmt->kind == STMT_REBIND; }

static bool do_drop_rebind(Place *p) {
    if (p->apply) remove_stmt(p->frame, p->index);
    return is_rebind(p);
}

static bool do_drop_rebind_renumbered(Place *p) {
    if (!is_rebind(p)) return false;
    if (p->apply) {
        remove_stmt(p->frame, p->index);
        renumber(p->unit, p->fn);
    }
    return true;
}

static bool do_duplicate_rebind(Place *p) {
    if (p->apply) insert_stmt(p, p->index, copy_stmt(p, p->stmt));
    return is_rebind(p);
}

static bool do_duplicate_rebind_next(Place *p) {
    if (!is_rebind(p)) return false;
    if (p->apply) {
        insert_stmt(p, p->index, copy_stmt(p, p->stmt));
        renumber(p->unit, p->fn);
    }
    return true;
}

static bool do_swap_rebinds(Place *p) {
    IrStmt *next = is_rebind(p) ? stmt_behind(p, 1) : NULL;
    if (!next || next->kind != STMT_REBIND || next->construct != p->stmt->construct) return false;
    if (p->apply) {
        p->frame->stmts[p->index] = next;
        p->frame->stmts[p->index + 1] = p->stmt;
    }
    return true;
}

static bool do_delay_rebind(Place *p) {
    IrStmt *next = is_rebind(p) ? stmt_behind(p, 1) : NULL;
    if (!next || next->kind == STMT_REBIND) return false;
    if (p->apply) {
        p->frame->stmts[p->index] = next;
        p->frame->stmts[p->index + 1] = p->stmt;
        renumber(p->unit, p->fn);
    }
    return true;
}

static bool do_rebind_from_other(Place *p) {
    if (!is_rebind(p) || p->fn->construct_count < 2) return false;
    if (p->apply)
        p->stmt->construct =
            (p->stmt->construct + 1 + p->second % (p->fn->construct_count - 1)) % p->fn->construct_count;
    return true;
}

static bool other_local(Place *p, bool renumbered) {
    if (p->fn->local_count < 2) return false;
    if (p->apply) {
        p->stmt->local = (p->stmt->local + 1 + p->second % (p->fn->local_count - 1)) % p->fn->local_count;
        if (renumbered) renumber(p->unit, p->fn);
    }
    return true;
}

static bool do_rebind_other_local(Place *p) { return is_rebind(p) && other_local(p, true); }
static bool do_set_other_local(Place *p) { return p->stmt->kind == STMT_SET && other_local(p, true); }

static bool do_drop_set(Place *p) {
    if (p->stmt->kind != STMT_SET) return false;
    if (p->apply) {
        remove_stmt(p->frame, p->index);
        renumber(p->unit, p->fn);
    }
    return true;
}

static bool do_discard(Place *p) {
    IrStmt *s = p->stmt, *next = stmt_behind(p, 1);
    if (s->kind != STMT_CONSTRUCT || !s->thread_count || !next || next->kind != STMT_REBIND) return false;
    if (!p->apply) return true;
    for (uint32_t i = 0; i < s->thread_count && p->index + 1 < p->frame->stmt_count; i++)
        remove_stmt(p->frame, p->index + 1);
    IrStmt *discard = copy_stmt(p, next);
    discard->kind = STMT_DISCARD;
    insert_stmt(p, p->index + 1, discard);
    renumber(p->unit, p->fn);
    return true;
}

static bool do_drop_discard(Place *p) {
    if (p->apply) remove_stmt(p->frame, p->index);
    return p->stmt->kind == STMT_DISCARD;
}

/* ---- versions ---- */

static bool do_swap_versions(Place *p) {
    if (!mints(p->stmt)) return false;
    for (uint32_t i = p->index + 1; i < p->frame->stmt_count; i++) {
        IrStmt *other = p->frame->stmts[i];
        if (!mints(other) || other->local != p->stmt->local) continue;
        if (p->apply) {
            uint32_t version = other->version;
            other->version = p->stmt->version;
            p->stmt->version = version;
        }
        return true;
    }
    return false;
}

typedef struct {
    IrAtom *first, *other;
} Reads;
static void find_other_read(IrAtom *atom, void *context) {
    Reads *r = context;
    if (atom->kind == ATOM_LOCAL && atom->index == r->first->index && atom->version != r->first->version)
        r->other = atom;
}

static bool do_swap_reads(Place *p) {
    if (p->atom->kind != ATOM_LOCAL) return false;
    Reads r = {p->atom, NULL};
    each_atom_of(p->unit, p->fn->body, find_other_read, &r);
    if (r.other && p->apply) {
        uint32_t version = r.other->version;
        r.other->version = p->atom->version;
        p->atom->version = version;
    }
    return r.other != NULL;
}

static bool older(uint32_t *version, bool apply, uint32_t second) {
    if (!*version) return false;
    if (apply) *version -= 1 + second % *version;
    return true;
}

static bool do_read_older(Place *p) {
    return p->atom->kind == ATOM_LOCAL && older(&p->atom->version, p->apply, p->second);
}

static bool do_read_newer(Place *p) {
    if (p->atom->kind != ATOM_LOCAL) return false;
    if (p->apply) p->atom->version += 1 + p->second % 3;
    return true;
}

static bool is_used_snap(Place *p) {
    if (p->stmt->kind != STMT_SNAP) return false;
    Replacing r = {.temp = p->stmt->temp};
    each_atom_of(p->unit, p->fn->body, count_temp, &r);
    return r.found > 0;
}

static const IrStmt *binding_of(const IrFrame *frame, uint32_t temp) {
    for (uint32_t i = 0; i < frame->stmt_count; i++) {
        const IrStmt *s = frame->stmts[i];
        bool binds = s->kind == STMT_BIND || s->kind == STMT_SNAP || s->kind == STMT_CONSTRUCT;
        if (binds && s->temp == temp) return s;
    }
    return NULL;
}

/* Is the value of the construct part of the expression that s computes? */
static bool feeds(const IrFrame *frame, uint32_t construct, const IrStmt *s, uint32_t depth) {
    if (!s || depth > 40) return false;
    if (s->kind == STMT_CONSTRUCT && s->construct == construct) return true;
    for (uint32_t i = 0; i < s->operand_count; i++)
        if (s->operands[i].kind == ATOM_TEMP &&
            feeds(frame, construct, binding_of(frame, s->operands[i].index), depth + 1))
            return true;
    return false;
}

static bool reads_temp(const IrStmt *s, uint32_t temp);

/* Only where a rebind of a sibling overwrites what the snap keeps, and the sibling's value is an operand like
 * the snap's. Without the snap, `t foo: (t := 2)` reads like `t := 2. t foo: t`, and `t + ([W. 5] value)`
 * like `W` and then `t + 5`: those are other programs, and no fault that IR could show. */
static bool rebind_overwrites(const Place *p) {
    for (uint32_t i = p->index + 1; i < p->frame->stmt_count; i++) {
        const IrStmt *rebind = p->frame->stmts[i];
        if (!mints(rebind) || rebind->local != p->stmt->local) continue;
        if (rebind->kind != STMT_REBIND) return false;
        for (uint32_t k = i + 1; k < p->frame->stmt_count; k++)
            if (reads_temp(p->frame->stmts[k], p->stmt->temp))
                return p->frame->stmts[k]->kind == STMT_BIND &&
                       feeds(p->frame, rebind->construct, p->frame->stmts[k], 0);
        return false;
    }
    return false;
}

static bool do_drop_snap(Place *p) {
    if (!is_used_snap(p)) return false;
    if (p->apply) {
        Replacing r = {p->stmt->temp, {ATOM_LOCAL, p->stmt->local, p->stmt->version}, 0};
        remove_stmt(p->frame, p->index);
        each_atom_of(p->unit, p->fn->body, replace_temp, &r);
    }
    return true;
}

static bool do_no_snap(Place *p) {
    if (p->stmt->kind != STMT_SNAP || !rebind_overwrites(p) || !do_drop_snap(p)) return false;
    if (p->apply) renumber(p->unit, p->fn);
    return true;
}

static bool reads_temp(const IrStmt *s, uint32_t temp) {
    for (uint32_t i = 0; i < s->operand_count; i++)
        if (s->operands[i].kind == ATOM_TEMP && s->operands[i].index == temp) return true;
    return false;
}

static bool do_late_snap(Place *p) {
    if (p->stmt->kind != STMT_SNAP || !rebind_overwrites(p)) return false;
    uint32_t to = p->index + 1;
    while (to < p->frame->stmt_count && !reads_temp(p->frame->stmts[to], p->stmt->temp)) to++;
    uint32_t version;
    if (to >= p->frame->stmt_count || !version_before(p->frame, to, p->stmt->local, &version) ||
        version == p->stmt->version)
        return false;
    if (p->apply) {
        memmove(p->frame->stmts + p->index, p->frame->stmts + p->index + 1,
                (to - 1 - p->index) * sizeof *p->frame->stmts);
        p->frame->stmts[to - 1] = p->stmt;
        p->stmt->version = version;
    }
    return true;
}

static bool do_stale_self(Place *p) {
    if (p->atom->kind != ATOM_LOCAL || p->fn->locals[p->atom->index].family != FAMILY_SELFVT) return false;
    if (p->apply) *p->atom = (IrAtom){ATOM_SELF, 0, 0};
    return true;
}

/* ---- threads ---- */

static bool do_drop_construct_thread(Place *p) {
    if (p->stmt->kind != STMT_CONSTRUCT || !p->stmt->thread_count) return false;
    if (p->apply) {
        uint32_t local = p->stmt->threads[p->second % p->stmt->thread_count];
        remove_thread(p->stmt->threads, &p->stmt->thread_count, local);
        for (uint32_t i = p->index + 1; i < p->frame->stmt_count; i++) {
            IrStmt *s = p->frame->stmts[i];
            if (s->kind != STMT_REBIND || s->construct != p->stmt->construct || s->local != local) continue;
            remove_stmt(p->frame, i);
            break;
        }
        renumber(p->unit, p->fn);
    }
    return true;
}

static bool do_drop_frame_thread(Place *p) {
    if (!p->construct || !p->frame->thread_count) return false;
    if (p->apply) {
        remove_thread(p->frame->threads, &p->frame->thread_count,
                      p->frame->threads[p->second % p->frame->thread_count]);
        renumber(p->unit, p->fn);
    }
    return true;
}

static bool do_drop_thread(Place *p) {
    if (p->stmt->kind != STMT_CONSTRUCT || !p->stmt->thread_count) return false;
    if (!p->apply) return true;
    uint32_t local = p->stmt->threads[p->second % p->stmt->thread_count];
    for (uint32_t i = 0; i < p->stmt->frame_count; i++) {
        IrFrame *f = p->stmt->frames[i];
        remove_thread(f->threads, &f->thread_count, local);
    }
    for (uint32_t i = 0; i < p->stmt->thread_count; i++)
        if (p->stmt->threads[i] == local) p->second = i;
    return do_drop_construct_thread(p);
}

static bool do_add_frame_thread(Place *p) {
    if (!p->construct || !p->fn->local_count) return false;
    if (p->apply) {
        IrFrame *f = p->frame;
        uint32_t *threads = ir_alloc(p->unit, (f->thread_count + 1) * sizeof *threads);
        if (f->thread_count) memcpy(threads, f->threads, f->thread_count * sizeof *threads);
        threads[f->thread_count++] = p->second % p->fn->local_count;
        f->threads = threads;
        renumber(p->unit, p->fn);
    }
    return true;
}

static bool do_swap_threads(Place *p) {
    if (p->stmt->kind != STMT_CONSTRUCT || p->stmt->thread_count < 2) return false;
    if (p->apply) {
        uint32_t at = p->second % (p->stmt->thread_count - 1), local = p->stmt->threads[at];
        p->stmt->threads[at] = p->stmt->threads[at + 1];
        p->stmt->threads[at + 1] = local;
    }
    return true;
}

/* ---- regions and frames ---- */

static bool is_region(const IrStmt *s) {
    return s->kind == STMT_CONSTRUCT &&
           (s->construct_kind == CONSTRUCT_ONDO || s->construct_kind == CONSTRUCT_ENSURE);
}

static bool do_drop_restore(Place *p) {
    if (p->apply) p->stmt->restore = false;
    return is_region(p->stmt);
}

static bool do_drop_snapshot(Place *p) {
    if (p->apply) p->stmt->snapshot = false;
    return is_region(p->stmt);
}

static bool do_frame_kind(Place *p) {
    if (p->apply)
        p->frame->kind = (p->frame->kind + 1 + p->second % (FRAME_KIND_COUNT - 1)) % FRAME_KIND_COUNT;
    return true;
}

static bool do_other_index(Place *p) {
    if (p->stmt->kind != STMT_CONSTRUCT || !construct_has_index(p->stmt->construct_kind) ||
        p->fn->local_count < 2)
        return false;
    if (p->apply) {
        p->stmt->index_local =
            (p->stmt->index_local + 1 + p->second % (p->fn->local_count - 1)) % p->fn->local_count;
        renumber(p->unit, p->fn);
    }
    return true;
}

/* ---- locals, carriers, captures ---- */

static IrLocal *local_at(const Place *p) { return &p->fn->locals[p->index]; }

static bool do_local_to_carrier(Place *p) {
    if (local_at(p)->mode == LOCAL_CARRIER) return false;
    if (p->apply) {
        local_at(p)->mode = LOCAL_CARRIER;
        local_at(p)->carrier = 0;
    }
    return true;
}

static bool do_carrier_to_local(Place *p) {
    if (local_at(p)->mode != LOCAL_CARRIER) return false;
    if (p->apply) local_at(p)->mode = LOCAL_REGISTER;
    return true;
}

static uint32_t carriers_in(const IrUnit *unit) {
    uint32_t most = 0;
    for (uint32_t i = 0; i < unit->function_count; i++)
        if (unit->functions[i]->carrier_count > most) most = unit->functions[i]->carrier_count;
    return most;
}

static bool do_other_carrier(Place *p) {
    uint32_t count = carriers_in(p->unit);
    if (local_at(p)->mode != LOCAL_CARRIER || count < 2) return false;
    if (p->apply) local_at(p)->carrier = (local_at(p)->carrier + 1 + p->second % (count - 1)) % count;
    return true;
}

static bool do_other_level(Place *p) {
    if (p->apply) local_at(p)->level = local_at(p)->level ? local_at(p)->level - 1 : 1;
    return local_at(p)->outer;
}

static bool do_carrier_not_outer(Place *p) {
    if (p->apply) local_at(p)->outer = false;
    return local_at(p)->outer;
}

static bool do_local_family(Place *p) {
    if (p->apply) local_at(p)->family = local_at(p)->family == FAMILY_LOCAL ? FAMILY_SELFVT : FAMILY_LOCAL;
    return true;
}

static BcCapture *capture_at(const Place *p) { return &p->fn->captures[p->index]; }

static bool do_capture_other_carrier(Place *p) {
    uint32_t count = carriers_in(p->unit);
    if (capture_at(p)->kind != CAP_CARRIER || count < 2) return false;
    if (p->apply)
        capture_at(p)->index = (uint16_t)((capture_at(p)->index + 1 + p->second % (count - 1)) % count);
    return true;
}

static bool do_capture_other_level(Place *p) {
    if (capture_at(p)->kind != CAP_CARRIER) return false;
    if (p->apply) capture_at(p)->fallback = capture_at(p)->fallback ? 0 : 1;
    return true;
}

static bool do_capture_of_carrier(Place *p) {
    if (capture_at(p)->kind != CAP_CARRIER) return false;
    if (p->apply) {
        const IrFunction *maker = p->unit->functions[p->fn->capture_owners[p->index].function];
        uint32_t local = p->fn->capture_owners[p->index].local;
        capture_at(p)->kind = CAP_REGISTER;
        p->fn->capture_atoms[p->index] =
            (IrAtom){ATOM_LOCAL, local, p->second % (maker->locals[local].versions + 1)};
    }
    return true;
}

static bool do_capture_stale(Place *p) {
    IrAtom *atom = &p->fn->capture_atoms[p->index];
    return capture_at(p)->kind == CAP_REGISTER && atom->kind == ATOM_LOCAL &&
           older(&atom->version, p->apply, p->second);
}

/* ---- functions ---- */

static const uint8_t STATE_FLAGS = FN_NLR_HOME | FN_HAS_CARRIERS | FN_WRITES_OUTER | FN_ACTOR_FIELDS;

static bool change_flag(Place *p, uint8_t among) {
    uint32_t count = 0;
    for (unsigned bit = 0; bit < 8; bit++) count += among >> bit & 1;
    if (!count) return false;
    uint32_t at = p->second % count;
    for (unsigned bit = 0; bit < 8 && p->apply; bit++)
        if (among >> bit & 1 && at-- == 0) p->fn->flags ^= (uint8_t)(1u << bit);
    return true;
}

static bool do_drop_flag(Place *p) { return change_flag(p, p->fn->flags & STATE_FLAGS); }
static bool do_add_flag(Place *p) { return change_flag(p, (uint8_t)~p->fn->flags & STATE_FLAGS); }

static bool do_carrier_count(Place *p) {
    if (!p->fn->carrier_count) return false;
    if (p->apply) p->fn->carrier_count--;
    return true;
}

static bool do_state_outside(Place *p) {
    if (p->stmt->kind != STMT_BIND || p->fn->home_kind == FN_ACTOR_METHOD || p->stmt->op == IR_PRIM)
        return false;
    uint32_t name = 0;
    while (name < p->unit->const_count && p->unit->consts[name].kind != BC_SYMBOL) name++;
    if (name == p->unit->const_count) return false;
    if (p->apply) {
        p->stmt->op = IR_GETSTATE;
        p->stmt->imm = name;
        p->stmt->operand_count = 0;
        p->stmt->flags = 0;
    }
    return true;
}

static bool do_other_home(Place *p) {
    if (!p->apply) return true;
    BcFnKind kind = (BcFnKind)(p->second % FN_BLOCK);
    if (kind == p->fn->home_kind) {
        p->fn->class_side = !p->fn->class_side;
        return true;
    }
    if (p->fn->kind == p->fn->home_kind) p->fn->kind = kind;
    p->fn->home_kind = kind;
    return true;
}

static bool do_block_access(Place *p) {
    if (p->apply) p->stmt->flags &= (uint8_t)~SITE_IN_BLOCK;
    return p->stmt->kind == STMT_BIND && p->stmt->op >= IR_GETSTATE && p->stmt->op <= IR_HASCV &&
           (p->stmt->flags & SITE_IN_BLOCK);
}

static bool do_return_not_home(Place *p) {
    if (p->stmt->kind != STMT_NONLOCAL) return false;
    if (p->apply) p->stmt->kind = STMT_RETURN;
    return true;
}

static bool do_nonlocal_in_method(Place *p) {
    if (p->stmt->kind != STMT_RETURN) return false;
    if (p->apply) p->stmt->kind = STMT_NONLOCAL;
    return true;
}

/* ---- temps ---- */

typedef struct {
    uint32_t temps[4096], count;
} TempList;

static void temps_bound_in(const IrFrame *frame, TempList *list) {
    for (uint32_t i = 0; i < frame->stmt_count; i++) {
        const IrStmt *s = frame->stmts[i];
        bool binds = s->kind == STMT_BIND || s->kind == STMT_SNAP || s->kind == STMT_CONSTRUCT;
        if (binds && list->count < 4096) list->temps[list->count++] = s->temp;
        for (uint32_t k = 0; k < s->frame_count; k++) temps_bound_in(s->frames[k], list);
    }
}

static bool replace_operand(Place *p, const TempList *list) {
    if (!list->count || !p->stmt->operand_count) return false;
    if (p->apply)
        p->stmt->operands[p->second % p->stmt->operand_count] =
            (IrAtom){ATOM_TEMP, list->temps[p->second / 7 % list->count], 0};
    return true;
}

static bool do_temp_of_sibling(Place *p) {
    TempList list;
    list.count = 0;
    for (uint32_t i = 0; i < p->index; i++)
        for (uint32_t k = 0; k < p->frame->stmts[i]->frame_count; k++)
            temps_bound_in(p->frame->stmts[i]->frames[k], &list);
    return replace_operand(p, &list);
}

static bool do_temp_too_early(Place *p) {
    TempList list;
    list.count = 0;
    for (uint32_t i = p->index; i < p->frame->stmt_count; i++) {
        const IrStmt *s = p->frame->stmts[i];
        if ((s->kind == STMT_BIND || s->kind == STMT_SNAP || s->kind == STMT_CONSTRUCT) && list.count < 4096)
            list.temps[list.count++] = s->temp;
    }
    return replace_operand(p, &list);
}

/* ---- the table ---- */

static const Mutator MUTATORS[] = {
#define MUTATION(name, doc) do_##name,
#include "tests/mutation/mutations.def"
#undef MUTATION
};

static PlaceKind place_kind(Mutation m) {
    switch (m) {
    case MUTATE_read_older:
    case MUTATE_read_newer:
    case MUTATE_swap_reads:
    case MUTATE_stale_self: return AT_ATOM;
    case MUTATE_drop_frame_thread:
    case MUTATE_add_frame_thread:
    case MUTATE_frame_kind: return AT_FRAME;
    case MUTATE_drop_flag:
    case MUTATE_add_flag:
    case MUTATE_carrier_count:
    case MUTATE_other_home: return AT_FUNCTION;
    case MUTATE_local_to_carrier:
    case MUTATE_carrier_to_local:
    case MUTATE_other_carrier:
    case MUTATE_other_level:
    case MUTATE_carrier_not_outer:
    case MUTATE_local_family: return AT_LOCAL;
    case MUTATE_capture_other_carrier:
    case MUTATE_capture_other_level:
    case MUTATE_capture_of_carrier:
    case MUTATE_capture_stale: return AT_CAPTURE;
    default: return AT_STMT;
    }
}

/* One walk over the unit: counts the places where the mutation applies, and does it at place `target`. */
typedef struct {
    IrUnit *unit;
    Mutator mutator;
    PlaceKind kind;
    uint32_t count, target, second;
    bool done;
} Walk;

static void at_place(Walk *w, Place p) {
    if (w->done || p.kind != w->kind) return;
    p.unit = w->unit;
    p.second = w->second;
    if (!w->mutator(&p) || w->count++ != w->target) return;
    p.apply = true;
    (void)w->mutator(&p);
    w->done = true;
}

typedef struct {
    Walk *walk;
    Place place;
} AtomWalk;

static void at_atom(IrAtom *atom, void *context) {
    AtomWalk *a = context;
    a->place.atom = atom;
    at_place(a->walk, a->place);
}

static void walk_frame(Walk *w, IrFunction *fn, IrFrame *frame, IrStmt *construct) {
    at_place(w, (Place){.kind = AT_FRAME, .fn = fn, .frame = frame, .construct = construct});
    for (uint32_t i = 0; i < frame->stmt_count && !w->done; i++) {
        IrStmt *s = frame->stmts[i];
        at_place(
            w, (Place){
                   .kind = AT_STMT, .fn = fn, .frame = frame, .construct = construct, .stmt = s, .index = i});
        for (uint32_t k = 0; k < s->frame_count && !w->done; k++) walk_frame(w, fn, s->frames[k], s);
    }
}

static void walk_unit(Walk *w) {
    for (uint32_t f = 0; f < w->unit->function_count && !w->done; f++) {
        IrFunction *fn = w->unit->functions[f];
        at_place(w, (Place){.kind = AT_FUNCTION, .fn = fn});
        for (uint32_t i = 0; i < fn->local_count; i++)
            at_place(w, (Place){.kind = AT_LOCAL, .fn = fn, .index = i});
        for (uint32_t i = 0; i < fn->capture_count; i++)
            at_place(w, (Place){.kind = AT_CAPTURE, .fn = fn, .index = i});
        AtomWalk atoms = {w, {.kind = AT_ATOM, .fn = fn}};
        if (w->kind == AT_ATOM) each_atom_of(w->unit, fn->body, at_atom, &atoms);
        walk_frame(w, fn, fn->body, NULL);
    }
}

uint32_t mutate_count(IrUnit *unit, Mutation mutation) {
    Walk w = {
        .unit = unit, .mutator = MUTATORS[mutation], .kind = place_kind(mutation), .target = UINT32_MAX};
    walk_unit(&w);
    return w.count;
}

bool mutate_apply(IrUnit *unit, Mutation mutation, uint32_t index, uint32_t second) {
    Walk w = {.unit = unit,
              .mutator = MUTATORS[mutation],
              .kind = place_kind(mutation),
              .target = index,
              .second = second};
    walk_unit(&w);
    return w.done;
}
