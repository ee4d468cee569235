#include "vm/prims/text_pieces.h"
#include "vm/bytecode/memory.h"
#include "vm/error.h"
#include "vm/list.h"
#include "vm/string.h"

void pieces_add(Pieces *pieces, size_t from, size_t length) {
    if (pieces->count == pieces->capacity) {
        struct Piece *items = pieces->failed ? NULL
                                             : memory_grown(pieces->memory, pieces->items, &pieces->capacity,
                                                            sizeof *items, 32);
        if (!items) {
            pieces->failed = true;
            return;
        }
        pieces->items = items;
    }
    pieces->items[pieces->count++] = (struct Piece){from, length};
}

enum { SOURCE, LIST, PIECE, ROOT_COUNT };

static bool prepend_piece(Process *p, Value roots[ROOT_COUNT], const struct Piece *piece) {
    size_t total;
    if (piece->length <= STRING_INLINE_MAX) {
        if (!heap_reserve(p, LIST_CELL_WORDS + string_inline_words(piece->length))) return false;
        Value text = string_build_inline(p, string_bytes(roots[SOURCE], &total) + piece->from, piece->length);
        roots[LIST] = list_cons_reserved(p, text, roots[LIST]);
        return true;
    }
    if (string_slice(p, roots[SOURCE], piece->from, piece->length, &roots[PIECE]) != PRIM_OK ||
        !heap_reserve(p, LIST_CELL_WORDS))
        return false;
    roots[LIST] = list_cons_reserved(p, roots[PIECE], roots[LIST]);
    return true;
}

PrimStatus pieces_to_list(Process *p, Value source, Pieces *pieces, Value *out) {
    Value roots[ROOT_COUNT] = {source, V_EMPTY_LIST, V_NIL};
    RootSpan span;
    roots_push(p, &span, roots, ROOT_COUNT);
    process_charge(p, (uint32_t)(pieces->count >> 3));
    bool ok = !pieces->failed;
    for (size_t i = pieces->count; ok && i > 0; i--) ok = prepend_piece(p, roots, &pieces->items[i - 1]);
    roots_pop(p, &span);
    bool failed = pieces->failed;
    memory_free(pieces->memory, pieces->items);
    *pieces = PIECES_IN(p);
    *out = roots[LIST];
    if (failed) return error_resource(p, "There is no memory for the pieces of a string.");
    return ok ? PRIM_OK : PRIM_RAISE;
}
