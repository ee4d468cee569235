/* What the files of the generator share. */
#ifndef BT_TESTS_GENERATE_INTERNAL_H
#define BT_TESTS_GENERATE_INTERNAL_H

#include "generate.h"

typedef struct {
    int16_t var;
    char kind;     /* i integer, ? anything, e exception, B block without parameters, C block with one */
    bool writable; /* false: loop counters, parameters */
} Visible;

typedef struct {
    Pool *pool;
    Program *program;
    uint64_t random;
    int budget; /* nodes still to be made */
    int method; /* the one under way: it calls later ones only */
    Visible visible[96];
    int visible_count, var_count;
    int write_floor; /* variables below this index are not written (a block that has no way back) */
    bool no_state_writes;
    int called, written; /* a block variable of late and a variable that its block writes; -1: none */
    Node *pending[8];    /* declarations that must stand before the statement under way */
    int pending_count;
    int force; /* Outcome to bring about in the blocks of the construct under way, or -1 */
    bool method_takes_block[PROG_METHODS];
} Gen;

/* A construct of some shape in some position that ends in some way. */
typedef struct {
    int shape, position, outcome;
} Wanted;

typedef enum { TO_VARIABLE, TO_STATE, TO_SELF, TO_OTHER } Destination;

/* generate_block.c */
uint64_t gen_next(Gen *g);
int gen_below(Gen *g, int limit);
bool gen_chance(Gen *g, int percent);
bool gen_in_methods(const Gen *g);
bool gen_has_state(const Gen *g);
int gen_fresh(Gen *g, char kind, bool writable);
int gen_pick_variable(Gen *g, char kind, bool to_write);
Node *gen_leaf(Gen *g, NodeKind kind, int value);
Node *gen_small(Gen *g);
Node *gen_literal_int(Gen *g);
Node *gen_integer_leaf(Gen *g);
Node *gen_raise_node(Gen *g);
Node *gen_leaving(Gen *g, Outcome outcome);
void gen_declare_before(Gen *g, Node *node);
void gen_append_made(Gen *g, Node *seq, Node *(*make)(Gen *, const void *, int), const void *what, int depth);
void gen_add_statement(Gen *g, Node *seq, int depth);
void gen_add_value(Gen *g, Node *seq, char kind, int depth);
Node *gen_make_wanted(Gen *g, const void *what, int depth);
void gen_add_made(Gen *g, Node *seq, Wanted wanted, int depth);
Node *gen_block(Gen *g, const char *params, char value, int depth);
void gen_write_first(Gen *g, Node *in);
void gen_show_first(Gen *g, Node *cleanup);
Node *gen_closure(Gen *g, const char *params, Destination to, int depth);

/* generate_construct.c */
Node *gen_wrap_block(Gen *g, Node *statement_node);
Node *gen_construct(Gen *g, int shape, int depth);
int gen_any_shape(Gen *g);
char gen_shape_result(int shape);

/* generate_position.c */
Node *gen_set_variable(Gen *g, int var, Node *value);
Node *gen_set_state(Gen *g, int state, Node *value);
Node *gen_pair(Gen *g, NodeKind kind, int op, Node *a, Node *b);
Node *gen_place(Gen *g, Position position, Node *e, char kind, char *now);
Node *gen_placed(Gen *g, int shape, Position position, int depth);

/* generate_expr.c */
Node *gen_convert(Gen *g, Node *node, char from, char to);
Node *gen_send_to_method(Gen *g, int index, int depth);
Node *gen_block_call(Gen *g, int depth);
Node *gen_value(Gen *g, char kind, int depth);
Node *gen_watch_call(Gen *g);
Node *gen_statement(Gen *g, int depth);

#endif
