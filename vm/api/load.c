/* Loading without running. An image is one unit, verified as from a file.
 *
 * Loading several texts that may need each other: all are compiled against what all of them declare, then
 * installed in an order that has superclasses first. Each stays a unit of its own, so lines and files are its
 * own.
 */
#include "compiler/declared.h"
#include "vm/api/api_internal.h"

typedef struct {
    BtVm *vm;
    const bt_source *sources;
    size_t count;
    bool spoil;
    bt_result **results;
    BcUnit **units;
    uint32_t *order;
} Load;

static void refuse(bt_result *r, const char *kind, const char *reason) {
    r->status = BT_COMPILE_ERROR;
    if (!r->error_message) r->error_message = text_dup(r->vm->memory, reason, strlen(reason));
    if (!r->error_kind) r->error_kind = text_dup(r->vm->memory, kind, strlen(kind));
}

static void compile_text(Load *l, CompilerWorld world, size_t i) {
    const bt_source *s = &l->sources[i];
    DiagList diags;
    diag_list_init(&diags, l->vm->memory);
    CompileOptions options = {
        .memory = l->vm->memory, .name = s->name, .script = true, .spoil_methods = l->spoil, .world = world};
    l->units[i] = compile_source(&options, s->text, s->length, &diags);
    SourceFile file;
    bool named = source_file_init(&file, s->name, s->text, s->length);
    file.memory = l->vm->memory;
    result_set_diagnostics(l->results[i], &diags, named ? &file : NULL);
    if (named) source_file_free(&file);
    if (!l->units[i]) refuse(l->results[i], "compile_error", "out of memory");
    diag_list_free(&diags);
}

static bool compile_all(Load *l) {
    World *world = world_new(l->vm);
    Declared *declared = world ? declared_new(l->vm->memory, world_interface(world)) : NULL;
    for (size_t i = 0; declared && i < l->count; i++)
        declared_add(declared, l->sources[i].text, l->sources[i].length);
    bool whole = declared != NULL;
    for (size_t i = 0; declared && i < l->count; i++) {
        compile_text(l, declared_world(declared), i);
        whole = whole && l->units[i];
    }
    if (declared) declared_order(declared, l->order);
    declared_free(declared);
    world_free(world);
    return whole;
}

static void install(Load *l, size_t i) {
    bt_result *r = l->results[i];
    char reason[512] = "";
    r->definitions = definition_names(l->vm->memory, l->units[i]);
    CodeUnit *unit = code_link(l->vm, l->units[i], false, reason, sizeof reason);
    if (!unit) {
        refuse(r, "internal_verifier", reason);
        return;
    }
    l->units[i] = NULL;
    if (!classes_install(l->vm, unit, false, reason, sizeof reason))
        refuse(r, strncmp(reason, "Cannot redefine stdlib", 22) ? "compile_error" : "stdlib_shadowing",
               reason);
    code_release(unit);
}

static bt_status outcome(const Load *l) {
    for (size_t i = 0; i < l->count; i++)
        if (l->results[i]->status != BT_OK) return l->results[i]->status;
    return BT_OK;
}

static bool prepare(Load *l) {
    l->units = memory_zalloc(l->vm->memory, (l->count + 1) * sizeof *l->units);
    l->order = memory_zalloc(l->vm->memory, (l->count + 1) * sizeof *l->order);
    bool whole = l->units && l->order;
    for (size_t i = 0; i < l->count; i++) whole = (l->results[i] = result_new(l->vm->api, BT_OK)) && whole;
    return whole;
}

bt_status bt_vm_load(bt_vm *vm, const bt_source *sources, size_t count, const bt_eval_options *options,
                     bt_result **results) {
    if (!vm || !results || (!sources && count)) return BT_MISUSE;
    for (size_t i = 0; i < count; i++)
        if (!sources[i].name || (!sources[i].text && sources[i].length)) return BT_MISUSE;
    Load l = {.vm = vm->core, .sources = sources, .count = count, .results = results};
    bt_eval_options own = {0};
    if (options) STRUCT_COPY(own, options);
    l.spoil = own.spoil_methods;
    bool whole = prepare(&l);
    bt_status status = whole ? BT_OK : BT_NO_MEMORY;
    if (whole) {
        whole = compile_all(&l);
        for (size_t k = 0; (whole || l.spoil) && k < count; k++)
            if (l.units[l.order[k]]) install(&l, l.order[k]);
        status = outcome(&l);
    }
    for (size_t i = 0; l.units && i < count; i++)
        if (l.units[i]) bc_unit_free(l.units[i]);
    memory_free(vm->memory, l.units);
    memory_free(vm->memory, l.order);
    return status;
}

static bool is_of_other_version(const char *reason) { return strncmp(reason, "abi_mismatch", 12) == 0; }

bt_status bt_vm_load_image(bt_vm *vm, const void *bytes, size_t length, bt_result **result) {
    if (!result) return BT_MISUSE;
    *result = NULL;
    if (!vm || !bytes) return BT_MISUSE;
    bt_result *r = *result = result_new(vm, BT_OK);
    if (!r) return BT_NO_MEMORY;
    char reason[512] = "out of memory";
    BcUnit *bc = bc_decode(vm->memory, bytes, length, reason, sizeof reason);
    if (!bc)
        return refuse(r, is_of_other_version(reason) ? "abi_mismatch" : "image_invalid", reason), r->status;
    BcUnit *units[] = {bc};
    Load l = {.vm = vm->core, .count = 1, .results = result, .units = units};
    install(&l, 0);
    if (units[0]) bc_unit_free(units[0]);
    return r->status;
}
