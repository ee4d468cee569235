/* Blocks of words that a collection lets go of, kept for the next one on the same scheduler. Large blocks
 * come from the system, and go back to it, page by page, which costs as much as the collection itself.
 *
 * Owner: the thread that runs the scheduler. A few at most, and none while it sleeps. Stress builds keep
 * none, so that whoever uses a block after its collection is found.
 */
#ifndef BT_VM_SPARE_BLOCK_H
#define BT_VM_SPARE_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "vm/bytecode/memory.h"

typedef struct SpareBlock {
    uint64_t *block; /* NULL: none */
    size_t words;
} SpareBlock;

enum { SPARE_BLOCKS = 3 };
typedef struct SpareBlocks {
    SpareBlock kept[SPARE_BLOCKS];
} SpareBlocks;

/* A block of at least *words, which becomes what it has; NULL: no memory. spares may be NULL. */
uint64_t *spare_take(const Memory *memory, SpareBlocks *spares, size_t *words);
/* Takes the block over. NULL blocks are ignored; spares may be NULL. */
void spare_give(const Memory *memory, SpareBlocks *spares, uint64_t *block, size_t words);
void spare_release(const Memory *memory, SpareBlocks *spares);

#endif
