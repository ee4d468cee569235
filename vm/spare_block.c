/* See spare_block.h. */
#include "vm/spare_block.h"
#include "vm/bytecode/memory.h"

#ifdef BT_STRESS
#define LEAST_WORDS SIZE_MAX
#else
#define LEAST_WORDS ((size_t)1 << 13) /* 64 KB: what is smaller the allocator keeps itself */
#endif

/* Not more than twice what was asked for, so that no heap holds much more than it needs. */
static bool serves(const SpareBlock *spare, size_t words) {
    return spare->block && spare->words >= words && spare->words - words <= words;
}

uint64_t *spare_take(const Memory *memory, SpareBlocks *spares, size_t *words) {
    if (spares && *words >= LEAST_WORDS)
        for (int i = 0; i < SPARE_BLOCKS; i++) {
            SpareBlock *spare = &spares->kept[i];
            if (!serves(spare, *words)) continue;
            uint64_t *block = spare->block;
            *words = spare->words;
            *spare = (SpareBlock){0};
            return block;
        }
    return memory_alloc(memory, (*words ? *words : 1) * sizeof(uint64_t));
}

/* The last ones given are kept: sizes change slowly. */
void spare_give(const Memory *memory, SpareBlocks *spares, uint64_t *block, size_t words) {
    if (block && spares && words >= LEAST_WORDS) {
        SpareBlock given = {block, words};
        for (int i = 0; i < SPARE_BLOCKS; i++) {
            SpareBlock kept = spares->kept[i];
            spares->kept[i] = given;
            given = kept;
        }
        block = given.block;
    }
    memory_free(memory, block);
}

void spare_release(const Memory *memory, SpareBlocks *spares) {
    for (int i = 0; i < SPARE_BLOCKS; i++) {
        memory_free(memory, spares->kept[i].block);
        spares->kept[i] = (SpareBlock){0};
    }
}
