/* Generated programs as Beamtalk text: expressions, the class under test in its three spellings, the classes
 * around it. */
#include "program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- expressions ---- */

typedef struct {
    ProgText *out;
    const Program *program;
    char name[40]; /* of the class in which the text stands */
} Printer;

static void print(const Printer *p, const Node *node);

static bool is_plain(const Node *node) {
    switch (node->kind) {
    case N_INT: return node->value >= 0;
    case N_NIL:
    case N_BOOL:
    case N_SYM:
    case N_VAR:
    case N_STATE:
    case N_LIST:
    case N_DICT:
    case N_INTERP:
    case N_BLOCK: return true;
    default: return false;
    }
}

static void print_operand(const Printer *p, const Node *node) {
    bool plain = is_plain(node);
    if (!plain) prog_text_add(p->out, "(");
    print(p, node);
    if (!plain) prog_text_add(p->out, ")");
}

static void print_assigned(const Printer *p, const Node *node) {
    node->kind == N_RETURN ? print_operand(p, node) : print(p, node);
}

/* Text with %1 %2 .. for kids. */
static void print_template(const Printer *p, const char *text, const Node *node, bool operands) {
    for (; *text; text++) {
        if (*text != '%') {
            prog_text_add(p->out, "%c", *text);
            continue;
        }
        if (*++text == 'N') {
            prog_text_add(p->out, "%s", p->name);
            continue;
        }
        const Node *kid = node->kids[*text - '1'];
        operands ? print_operand(p, kid) : print(p, kid);
    }
}

static void print_statements(const Printer *p, const Node *seq, const char *separator) {
    for (int i = 0; i < seq->kid_count; i++) {
        if (i) prog_text_add(p->out, "%s", separator);
        print(p, seq->kids[i]);
    }
}

static void print_block(const Printer *p, const Node *block) {
    prog_text_add(p->out, "[");
    for (int i = 0; i < block->param_count; i++) prog_text_add(p->out, ":v%d ", block->params[i]);
    if (block->param_count) prog_text_add(p->out, "| ");
    print_statements(p, block->kids[0], ". ");
    prog_text_add(p->out, "]");
}

static void print_kids(const Printer *p, const Node *node, const char *open, const char *close) {
    prog_text_add(p->out, "%s", open);
    for (int i = 0; i < node->kid_count; i++) {
        if (i) prog_text_add(p->out, ", ");
        print_operand(p, node->kids[i]);
    }
    prog_text_add(p->out, "%s", close);
}

static void print_match(const Printer *p, const Node *node) {
    print_operand(p, node->kids[0]);
    prog_text_add(p->out, " match: [");
    for (int i = 1; i < node->kid_count; i++) {
        if (i + 1 < node->kid_count)
            prog_text_add(p->out, "%d -> ", i);
        else
            prog_text_add(p->out, "_ -> ");
        print_operand(p, node->kids[i]);
        if (i + 1 < node->kid_count) prog_text_add(p->out, "; ");
    }
    prog_text_add(p->out, "]");
}

static void print_call(const Printer *p, const Node *node) {
    print_operand(p, node->kids[0]);
    if (node->kid_count == 1) prog_text_add(p->out, " value");
    for (int i = 1; i < node->kid_count; i++) {
        prog_text_add(p->out, " value: ");
        print_operand(p, node->kids[i]);
    }
}

static void print_method_send(const Printer *p, const Node *node) {
    prog_text_add(p->out, "self p%d", node->value);
    for (int i = 0; i < node->kid_count; i++) {
        prog_text_add(p->out, i ? " with: " : ": ");
        print_operand(p, node->kids[i]);
    }
}

static void print(const Printer *p, const Node *node) {
    switch (node->kind) {
    case N_INT: prog_text_add(p->out, "%d", node->value); break;
    case N_NIL: prog_text_add(p->out, "nil"); break;
    case N_BOOL: prog_text_add(p->out, node->value ? "true" : "false"); break;
    case N_SYM: prog_text_add(p->out, "#%s", PROG_SYMBOLS[node->value]); break;
    case N_VAR: prog_text_add(p->out, "v%d", node->value); break;
    case N_SET_VAR:
        prog_text_add(p->out, "v%d := ", node->value);
        print_assigned(p, node->kids[0]);
        break;
    case N_STATE: prog_text_add(p->out, "self.s%d", node->value); break;
    case N_SET_STATE:
        prog_text_add(p->out, "self.s%d := ", node->value);
        print_assigned(p, node->kids[0]);
        break;
    case N_BIN:
        print_operand(p, node->kids[0]);
        prog_text_add(p->out, " %s ", PROG_OPS[node->op]);
        print_operand(p, node->kids[1]);
        break;
    case N_UNARY:
        print_operand(p, node->kids[0]);
        prog_text_add(p->out, " %s", PROG_UNARY[node->op]);
        break;
    case N_LIST: print_kids(p, node, "#(", ")"); break;
    case N_DICT:
        prog_text_add(p->out, "#{");
        for (int i = 0; i < node->kid_count; i++) {
            prog_text_add(p->out, "%s#%s => ", i ? ", " : "", PROG_SYMBOLS[i]);
            print_operand(p, node->kids[i]);
        }
        prog_text_add(p->out, "}");
        break;
    case N_INTERP:
        prog_text_add(p->out, "\"");
        for (int i = 0; i < node->kid_count; i++) {
            prog_text_add(p->out, "{");
            print_operand(p, node->kids[i]);
            prog_text_add(p->out, "}-");
        }
        prog_text_add(p->out, "\"");
        break;
    case N_CASCADE:
        print_operand(p, node->kids[0]);
        for (int i = 1; i < node->kid_count; i++) {
            prog_text_add(p->out, "%s max: ", i > 1 ? ";" : "");
            print_operand(p, node->kids[i]);
        }
        break;
    case N_BETWEEN: print_template(p, "%1 between: %2 and: %3", node, true); break;
    case N_KEYED:
        print_template(p, node->kid_count == 1 ? "%1 isKindOf: Integer" : "%1 max: %2", node, true);
        break;
    case N_CONSTRUCT: print_template(p, SHAPES[node->op].text, node, true); break;
    case N_MATCH: print_match(p, node); break;
    case N_RETURN:
        prog_text_add(p->out, "^");
        print_operand(p, node->kids[0]);
        break;
    case N_RAISE: prog_text_add(p->out, "%s", PROG_RAISES[node->op].text); break;
    case N_BLOCK: print_block(p, node); break;
    case N_CALL: print_call(p, node); break;
    case N_SEND: print_template(p, HELPERS[node->op].text, node, true); break;
    case N_METHOD: print_method_send(p, node); break;
    case N_ERROR_KIND: print_template(p, "%1 kind", node, true); break;
    case N_RERAISE: print_template(p, "%1 signal", node, true); break;
    case N_CLASS: prog_text_add(p->out, "%s", PROG_CLASSES[node->op].name); break;
    case N_SEQ: print_statements(p, node, ". "); break;
    }
}

/* ---- the class under test ---- */

static const char PRELUDE[] = "Value subclass: PropWalker\n"
                              "  over: xs do: b =>\n"
                              "    xs do: [:x | b value: x]\n"
                              "    5\n"
                              "  guard: b => [b value] on: Error do: [:e | 71]\n"
                              "Object subclass: PropEach\n"
                              "  class sealed over: xs do: b =>\n"
                              "    xs do: [:x | b value: x]\n"
                              "    6\n"
                              "  class sealed guard: b => [b value] on: Error do: [:e | 72]\n"
                              "Object subclass: PropHop\n"
                              "  classState: runs = 0\n"
                              "  class runs => self.runs\n"
                              "  class reset => self.runs := 0\n"
                              "  class over: xs do: b =>\n"
                              "    self.runs := self.runs + 1\n"
                              "    xs do: [:x | b value: x]\n"
                              "    self.runs := self.runs + 100\n"
                              "    self.runs\n"
                              "  class guard: b =>\n"
                              "    self.runs := self.runs + 1\n"
                              "    [self.runs := self.runs + 10. b value] on: Error do: [:e | self.runs]\n"
                              "  class put: x => self.runs := self.runs + x\n"
                              "  class fail: x =>\n"
                              "    self.runs := self.runs + x\n"
                              "    self error: \"h\"\n"
                              "Actor subclass: PropBox\n"
                              "  state: seen = 0\n"
                              "  run: b =>\n"
                              "    self.seen := self.seen + 1\n"
                              "    b value\n"
                              "Value subclass: PropTrier\n"
                              "  tryDo: b => b value\n";

const char *prelude_text(void) { return PRELUDE; }

/* What stands before the name of a method: `class `, `class sealed `, or nothing. */
static void print_blocks_helpers(ProgText *out, const char *head) {
    prog_text_add(out, "  %sapply: b => b value\n  %sapply: b with: x => b value: x\n", head, head);
    prog_text_add(out, "  %srecur: b => b value: b value: 2\n", head);
    prog_text_add(out, "  %sguard: b => [b value] on: Error do: [:e | 70]\n", head);
    prog_text_add(out, "  %sfailAfter: b =>\n    b value\n    self error: \"g\"\n", head);
}

static void print_state_helpers(ProgText *out, const char *head) {
    prog_text_add(out, "  %sput: x => self.s0 := self.s0 + x\n  %sget => self.s0\n", head, head);
    prog_text_add(out, "  %sfail: x =>\n    self.s0 := self.s0 + x\n    self error: \"f\"\n", head);
    prog_text_add(out, "  %sputSuper: x => (super putSuper: x) + 1\n", head);
    print_blocks_helpers(out, head);
}

static void print_stubs(ProgText *out) {
    prog_text_add(out, "  class put: x => #stub\n  class get => #stub\n  class fail: x => #stub\n");
    prog_text_add(out, "  class apply: b => #stub\n  class apply: b with: x => #stub\n");
    prog_text_add(out, "  class recur: b => #stub\n");
    prog_text_add(out, "  class guard: b => #stub\n  class failAfter: b => #stub\n");
}

static void print_methods(const Printer *p, const char *head) {
    for (int i = 0; i < PROG_METHODS; i++) {
        const Method *m = &p->program->methods[i];
        if (!m->body) continue;
        if (i == 0)
            prog_text_add(p->out, "  %sm =>\n    ", head);
        else if (m->param_count == 1)
            prog_text_add(p->out, "  %sp%d: v%d =>\n    ", head, i, m->params[0]);
        else
            prog_text_add(p->out, "  %sp%d: v%d with: v%d =>\n    ", head, i, m->params[0], m->params[1]);
        print_statements(p, m->body, "\n    ");
        prog_text_add(p->out, "\n");
    }
}

static void print_states(ProgText *out, const char *keyword, int first) {
    for (int i = 0; i < PROG_STATES; i++) prog_text_add(out, "  %s: s%d = %d\n", keyword, i, first + i);
}

static void print_getters(ProgText *out, const char *head) {
    for (int i = 0; i < PROG_STATES; i++) prog_text_add(out, "  %ss%d => self.s%d\n", head, i, i);
}

static void print_class_side(const Printer *p, Spelling spelling, const char *name) {
    ProgText *out = p->out;
    const char *head = spelling == SPELL_SEALED ? "class sealed " : "class ";
    prog_text_add(
        out, "Object subclass: %sBase\n  class put: x => #stub\n  class putSuper: x => self put: x + 10\n",
        name);
    prog_text_add(out, "%sBase subclass: %s%s\n", name, name, spelling == SPELL_SUBCLASS ? "Open" : "");
    print_states(out, "classState", spelling == SPELL_SUBCLASS ? 50 : 1);
    print_getters(out, "class ");
    if (spelling == SPELL_SUBCLASS) {
        print_stubs(out);
        print_methods(p, "class ");
        prog_text_add(out, "%sOpen subclass: %s\n", name, name);
        print_states(out, "classState", 1);
        print_state_helpers(out, "class ");
    } else {
        print_state_helpers(out, head);
        print_methods(p, head);
    }
}

static void print_instance_side(const Printer *p, const char *name) {
    ProgText *out = p->out;
    bool actor = p->program->context == CTX_ACTOR;
    if (actor)
        prog_text_add(out,
                      "Actor subclass: %sBase\n  put: x => #stub\n  putSuper: x => self put: x + 10\n%sBase "
                      "subclass: %s\n",
                      name, name, name);
    else
        prog_text_add(out, "Value subclass: %s\n", name);
    print_states(out, actor ? "state" : "field", 1);
    prog_text_add(out,
                  "  classState: c0 = 1\n  class c0 => self.c0\n  class bump: x => self.c0 := self.c0 + x\n"
                  "  class bumpFail: x =>\n    self.c0 := self.c0 + x\n    self error: \"c\"\n"
                  "  class run: b =>\n    self.c0 := self.c0 + 1\n    b value\n");
    if (actor) {
        print_getters(out, "");
        print_state_helpers(out, "");
    } else {
        print_blocks_helpers(out, "");
    }
    print_methods(p, "");
}

void program_class_text(const Program *program, Spelling spelling, const char *name, ProgText *text) {
    Printer p = {.out = text, .program = program};
    snprintf(p.name, sizeof p.name, "%s%s", name,
             program->context == CTX_CLASS && spelling == SPELL_SUBCLASS ? "Open" : "");
    if (program->context == CTX_CLASS)
        print_class_side(&p, spelling, name);
    else if (program->context != CTX_SCRIPT)
        print_instance_side(&p, name);
}

/* ---- the inputs ---- */

static void script_inputs(const Program *program, Inputs *inputs) {
    for (int i = 0; i < PROG_INITIAL; i++) prog_text_add(&inputs->setup, "v%d := %d\n", i, i + 1);
    Printer p = {.out = &inputs->answer, .program = program};
    const Node *body = program->methods[0].body;
    for (int i = PROG_INITIAL; i < body->kid_count; i++) {
        print(&p, body->kids[i]);
        prog_text_add(p.out, "\n");
    }
    prog_text_add(&inputs->finals, "#(v0, v1, v2, PropHop runs)");
}

/* An invocation at a time: whoever comes when, together they answer what as many calls in turn would. */
static void crowd_input(int callers, const char *name, ProgText *out) {
    prog_text_add(out, "((Parallel all: #(");
    for (int i = 0; i < callers; i++)
        prog_text_add(out, "%s[[%s m] on: Error do: [:e | e kind]]", i ? ", " : "", name);
    prog_text_add(out, ")) collect: [:r | r value]) sort: [:a :b | a printString <= b printString]");
}

void program_inputs(const Program *program, Spelling spelling, const char *name, Inputs *inputs) {
    *inputs = (Inputs){0};
    prog_text_add(&inputs->setup, "PropHop reset\n");
    if (program->context == CTX_SCRIPT) {
        script_inputs(program, inputs);
        return;
    }
    if (program->context == CTX_ACTOR) prog_text_add(&inputs->setup, "zz := %s spawn\n", name);
    prog_text_add(&inputs->answer,
                  program->context == CTX_ACTOR   ? "zz m"
                  : program->context == CTX_CLASS ? "%s m"
                                                  : "%s new m",
                  name);
    if (program->callers > 1) {
        inputs->answer.length = 0;
        crowd_input(program->callers, name, &inputs->answer);
    }
    if (program->context == CTX_CLASS)
        prog_text_add(&inputs->finals, "#(%s s0, %s s1, PropHop runs)", name, name);
    else if (program->context == CTX_ACTOR)
        prog_text_add(&inputs->finals, "#(zz s0, zz s1, %s c0, PropHop runs)", name);
    else
        prog_text_add(&inputs->finals, "#(%s c0, PropHop runs)", name);
    (void)spelling;
}

void inputs_free(Inputs *inputs) {
    prog_text_free(&inputs->setup);
    prog_text_free(&inputs->answer);
    prog_text_free(&inputs->finals);
}

void program_print(const Program *program, Spelling spelling, ProgText *text) {
    Inputs inputs;
    program_class_text(program, spelling, "P", text);
    program_inputs(program, spelling, "P", &inputs);
    prog_text_add(text, "%s%s\n%s\n", inputs.setup.bytes, inputs.answer.bytes, inputs.finals.bytes);
    inputs_free(&inputs);
}
