/* Pieces of a string on their way into a List: offsets are collected in native memory, then the List is built
 * from its end. */
#ifndef BT_TEXT_PIECES_H
#define BT_TEXT_PIECES_H

#include "vm/vm.h"

typedef struct {
    const Memory *memory;
    struct Piece {
        size_t from, length;
    } * items;
    size_t count, capacity;
    bool failed;
} Pieces;
#define PIECES_IN(p) ((Pieces){.memory = (p)->vm->memory})

void pieces_add(Pieces *pieces, size_t from, size_t length);
/* A List of the pieces of `source`; frees them in every case. MAY_GC. */
PrimStatus pieces_to_list(Process *p, Value source, Pieces *pieces, Value *out);

#endif
