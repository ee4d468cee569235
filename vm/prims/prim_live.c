/* Primitives of live editing: classes and methods that are made, changed and removed while the program runs.
 * The compiler is reached through the VM's compile service; a VM without one answers that. */
#include <stdio.h>
#include "vm/bytecode/memory.h"
#include "vm/class_internal.h"
#include "vm/prims/prim_support.h"

static PrimStatus no_compiler(Process *p, Value class_name, Value selector) {
    return error_raise(p, ERR_compile_error, class_name, selector, "this VM has no compiler", NULL, V_NIL);
}

/* Raises what the first error of the list says; frees the list. */
static PrimStatus compile_failed(Process *p, Value class_name, Value selector, DiagList *diags) {
    const char *text = "it cannot be compiled", *help = NULL;
    for (uint32_t i = 0; i < diags->count; i++) {
        if (diags->items[i].severity != DIAG_ERROR || !diags->items[i].message) continue;
        text = diags->items[i].message;
        help = diags->items[i].help;
        break;
    }
    PrimStatus status = error_raise(p, ERR_compile_error, class_name, selector, text, help, V_NIL);
    diag_list_free(diags);
    return status;
}

static PrimStatus refused(Process *p, Value class_name, Value selector, const char *reason) {
    return error_raise(p, ERR_compile_error, class_name, selector, reason, NULL, V_NIL);
}

static CodeUnit *link_unit(Process *p, BcUnit *bc, char *reason, size_t reason_size) {
    CodeUnit *unit = code_link(p->vm, bc, false, reason, reason_size);
    if (!unit) bc_unit_free(bc);
    return unit;
}

/* ---- classes ---- */

/* args[1]: the source of class definitions; they are installed. */
PRIM(prim_live_define) {
    (void)count;
    Value class_name = class_name_of(p->vm, args[0]), selector = named(p, "register");
    if (!value_is_string(args[1])) return error_type(p, args[0], selector, "Expected source text");
    if (!p->vm->compiler.compile) return no_compiler(p, class_name, selector);
    size_t length;
    char *source = native_text(p, args[1], &length), reason[256] = "";
    if (!source) return error_resource(p, NULL);
    DiagList diags;
    diag_list_init(&diags, p->vm->memory);
    BcUnit *bc = p->vm->compiler.compile(p->vm, "classBuilder", source, length, &diags);
    memory_free(p->vm->memory, source);
    if (!bc) return compile_failed(p, class_name, selector, &diags);
    diag_list_free(&diags);
    CodeUnit *unit = link_unit(p, bc, reason, sizeof reason);
    bool done = unit && classes_install(p->vm, unit, false, reason, sizeof reason);
    if (unit) code_release(unit);
    *result = V_NIL;
    return done ? PRIM_OK : refused(p, class_name, selector, reason);
}

PRIM(prim_live_remove_class) {
    (void)count;
    Class *c = value_is_class(args[0]) ? class_by_id(p->vm, special_payload(args[0])) : NULL;
    *result = V_NIL;
    return c && class_remove(p->vm, c) ? PRIM_OK : PRIM_FAIL;
}

/* ---- methods ---- */

static PrimStatus install(Process *p, Class *c, bool class_side, CodeUnit *unit, const BcMethod *bc) {
    return class_install_method(p->vm, c, class_side, false, unit, bc) ? PRIM_OK : error_resource(p, NULL);
}

/* A block that the compiler made a method of the class to be (its first parameter is spelled self): args[1]
 * the block, args[2] the selector, args[3] the class, args[4] whether it goes to the class side. */
PRIM(prim_live_install_block) {
    (void)count;
    Class *c = value_is_class(args[3]) ? class_by_id(p->vm, special_payload(args[3])) : NULL;
    if (!c || !value_is_symbol(args[2]) || !value_is_kind(args[1], KIND_CLOSURE)) return PRIM_FAIL;
    const Function *fn = closure_function(args[1]);
    /* Hostile code may flag a plain block, whose self is not in register 0. */
    if (!(fn->flags & FN_BUILDER) || fn->kind == FN_BLOCK) return PRIM_FAIL;
    if (fn->param_count != symbol_arity(p->vm, args[2])) {
        char hint[600];
        snprintf(hint, sizeof hint,
                 "The block for '%.250s' takes %u arguments after self, the selector has %u",
                 symbol_text(p->vm, args[2], NULL), fn->param_count, symbol_arity(p->vm, args[2]));
        return error_raise(p, ERR_arity_mismatch, c->name, args[2], NULL, hint, V_NIL);
    }
    size_t length;
    const char *text = symbol_text(p->vm, args[2], &length);
    BcMethod bc = {.selector = {text, (uint32_t)length},
                   .function = (uint32_t)(fn - fn->unit->functions),
                   .class_side = args[4] == V_TRUE};
    *result = V_NIL;
    return install(p, c, bc.class_side, fn->unit, &bc);
}

/* args[1]: the text of one method; it becomes the class's own at once. Answers the selector. */
PRIM(prim_live_compile) {
    (void)count;
    bool meta = value_is_meta(args[0]), class_side = meta || args[2] == V_TRUE;
    Class *c = meta || value_is_class(args[0]) ? class_by_id(p->vm, special_payload(args[0])) : NULL;
    Value selector = named(p, "compile:source:");
    if (!c || !value_is_string(args[1]))
        return error_type(p, args[0], selector, "Expected the source text of a method");
    if (!p->vm->compiler.compile_method) return no_compiler(p, c->name, selector);
    size_t length;
    char *source = native_text(p, args[1], &length), reason[256] = "";
    if (!source) return error_resource(p, NULL);
    DiagList diags;
    diag_list_init(&diags, p->vm->memory);
    BcUnit *bc = p->vm->compiler.compile_method(p->vm, symbol_text(p->vm, c->name, NULL), class_side, source,
                                                length, &diags);
    memory_free(p->vm->memory, source);
    if (!bc) return compile_failed(p, c->name, selector, &diags);
    diag_list_free(&diags);
    CodeUnit *unit = link_unit(p, bc, reason, sizeof reason);
    if (!unit) return refused(p, c->name, selector, reason);
    PrimStatus status = PRIM_FAIL;
    if (unit->bc->extension_count) {
        const BcMethod *method = &unit->bc->extensions[0];
        *result = symbol_intern(p->vm, method->selector.bytes, method->selector.length);
        status =
            *result == V_HOLE ? error_resource(p, NULL) : install(p, c, method->class_side, unit, method);
    }
    code_release(unit);
    return status;
}

PRIM(prim_live_class_named) {
    (void)count;
    Class *c = class_by_name(p->vm, args[1]);
    return *result = c ? value_from_class(c->id) : V_NIL, PRIM_OK;
}

PRIM(prim_live_is_library) {
    (void)count;
    Class *c = value_is_class(args[0]) ? class_by_id(p->vm, special_payload(args[0])) : NULL;
    return *result = value_from_bool(c && c->unit && c->unit->stdlib), PRIM_OK;
}
