/* Greedy: every node in turn is left out, replaced by one of its kids or by a number; what goes on failing is
 * kept. */
#include "shrink.h"

typedef struct {
    Pool *pool;
    StillFails still_fails;
    void *context;
    int tries;
    Program best;
} Shrinker;

typedef enum { DROP_KID, HOIST, TO_NUMBER, DROP_METHOD, EDIT_END } Edit;

/* The index'th node in order of print, with its parent and place. */
typedef struct {
    int wanted;
    Node *parent;
    int place;
} Finder;

static bool find(Finder *f, Node *node) {
    for (int i = 0; i < node->kid_count; i++) {
        if (f->wanted-- == 0) {
            f->parent = node;
            f->place = i;
            return true;
        }
        if (find(f, node->kids[i])) return true;
    }
    return false;
}

static bool may_lose_a_kid(const Node *node) {
    return (node->kind == N_SEQ && node->kid_count > 1) || node->kind == N_INTERP ||
           (node->kind == N_LIST && node->kid_count) || (node->kind == N_MATCH && node->kid_count > 2) ||
           (node->kind == N_DICT && node->kid_count > 1);
}

static bool is_block_place(const Node *parent, const Node *kid) {
    return kid->kind == N_BLOCK && parent->kind != N_SEQ;
}

/* A smaller expression in place of kid: way 0.. are its parts. NULL: no such way. */
static Node *hoisted(const Node *parent, Node *kid, int way) {
    if (is_block_place(parent, kid) || kid->kind == N_SEQ) return NULL;
    for (int i = 0; i < kid->kid_count; i++) {
        Node *part = kid->kids[i];
        if (part->kind == N_BLOCK) {
            const Node *seq = part->kids[0];
            Node *last = seq->kids[seq->kid_count - 1];
            if (way-- == 0) return parent->kind == N_SEQ ? part->kids[0] : last;
        } else if (part->kind != N_CLASS && way-- == 0) {
            return part;
        }
    }
    return NULL;
}

/* A sequence in a sequence is spliced. */
static void splice(Pool *pool, Node *seq) {
    Node *flat = node_new(pool, N_SEQ, 0);
    for (int i = 0; i < seq->kid_count; i++) {
        if (seq->kids[i]->kind != N_SEQ) {
            node_append(pool, flat, seq->kids[i]);
            continue;
        }
        for (int k = 0; k < seq->kids[i]->kid_count; k++) node_append(pool, flat, seq->kids[i]->kids[k]);
    }
    seq->kids = flat->kids;
    seq->kid_count = flat->kid_count;
}

static bool edit(Pool *pool, Program *p, int method, int index, Edit what, int way) {
    Finder f = {.wanted = index};
    if (!find(&f, p->methods[method].body)) return false;
    Node *kid = f.parent->kids[f.place];
    switch (what) {
    case DROP_KID:
        if (!may_lose_a_kid(f.parent) || (f.parent->kind == N_MATCH && f.place == 0)) return false;
        for (int i = f.place; i + 1 < f.parent->kid_count; i++) f.parent->kids[i] = f.parent->kids[i + 1];
        f.parent->kid_count--;
        return true;
    case HOIST: {
        Node *part = hoisted(f.parent, kid, way);
        if (!part) return false;
        f.parent->kids[f.place] = part;
        if (f.parent->kind == N_SEQ) splice(pool, f.parent);
        return true;
    }
    default:
        if (kid->kid_count == 0 || is_block_place(f.parent, kid) || kid->kind == N_SEQ ||
            kid->kind == N_CLASS)
            return false;
        f.parent->kids[f.place] = node_leaf(pool, N_INT, 1);
        return true;
    }
}

static int nodes_below(const Node *node) {
    int count = node->kid_count;
    for (int i = 0; i < node->kid_count; i++) count += nodes_below(node->kids[i]);
    return count;
}

static bool attempt(Shrinker *s, Program candidate) {
    if (s->tries-- <= 0) return false;
    if (!s->still_fails(s->context, &candidate)) return false;
    s->best = candidate;
    return true;
}

static bool try_all_edits(Shrinker *s, int method) {
    bool smaller = false;
    for (int index = 0; s->tries > 0 && index < nodes_below(s->best.methods[method].body); index++) {
        for (int what = DROP_KID; what < DROP_METHOD; what++) {
            for (int way = 0; way < (what == HOIST ? 5 : 1); way++) {
                Program candidate = program_copy(s->pool, &s->best);
                if (edit(s->pool, &candidate, method, index, (Edit)what, way) && attempt(s, candidate)) {
                    smaller = true;
                    what = DROP_KID - 1; /* once more at the same place */
                    break;
                }
            }
        }
    }
    return smaller;
}

Program shrink(Pool *pool, const Program *program, int tries, StillFails still_fails, void *context) {
    Shrinker s = {pool, still_fails, context, tries, program_copy(pool, program)};
    bool smaller = true;
    while (smaller && s.tries > 0) {
        smaller = false;
        for (int m = PROG_METHODS - 1; m >= 0; m--) {
            if (!s.best.methods[m].body) continue;
            Program without = program_copy(pool, &s.best);
            without.methods[m].body = NULL;
            if (m && attempt(&s, without)) {
                smaller = true;
                continue;
            }
            smaller = try_all_edits(&s, m) || smaller;
        }
    }
    return s.best;
}
