/* Symbols. See symbol.h.
 *
 * Entries lie in blocks that never move, found by a fixed directory. The index is an open-addressing table of
 * entry numbers: a hit takes no lock, an insertion takes the mutex. A table that has grown out is kept until
 * the end, because a reader may still be in it; together the old ones are smaller than the live one. */
#include "vm/symbol.h"
#include <pthread.h>
#include <stdatomic.h>
#include "vm/bytecode/memory.h"
#include "vm/hash.h"
#include "vm/vm.h"

#define BLOCK_BITS 12u
#define BLOCK_SIZE (1u << BLOCK_BITS)
#define DIRECTORY_SIZE 4096u
#define MAX_SYMBOLS (BLOCK_SIZE * DIRECTORY_SIZE)
#define INDEX_FIRST_SIZE 4096u
#define TEXT_BLOCK_BYTES 32768u
#define DEFAULT_MAX_COUNTED 1000000u

typedef struct {
    const char *text;
    uint64_t hash;
    uint32_t length, arity;
} Entry;

typedef struct Index {
    struct Index *outgrown;
    uint32_t size;            /* a power of two */
    _Atomic uint32_t slots[]; /* entry number + 1, 0 = free */
} Index;

typedef struct TextBlock {
    struct TextBlock *next;
    char bytes[];
} TextBlock;

struct SymbolTable {
    const Memory *memory;
    pthread_mutex_t lock; /* of all that follows but the atomic reads */
    Index *_Atomic index;
    uint32_t count, counted;
    TextBlock *texts;
    char *text_at, *text_end;
    Entry *_Atomic directory[DIRECTORY_SIZE];
};

static const struct {
    const char *text;
} WELL_KNOWN[] = {
#define SYM(name, text) {text},
#include "vm/symbols.def"
#undef SYM
};
_Static_assert(sizeof WELL_KNOWN / sizeof WELL_KNOWN[0] == SYM_WELL_KNOWN_COUNT, "one text per symbol");

/* ---- entries ---- */

static Entry *entry_at(const SymbolTable *t, uint32_t number) {
    /* acquire: pairs with the release store of the block in new_entry */
    return atomic_load_explicit(&t->directory[number >> BLOCK_BITS], memory_order_acquire) +
           (number & (BLOCK_SIZE - 1));
}

static char *copy_text(SymbolTable *t, const char *bytes, size_t length) {
    if ((size_t)(t->text_end - t->text_at) <= length) {
        size_t room = length >= TEXT_BLOCK_BYTES ? length + 1 : TEXT_BLOCK_BYTES;
        TextBlock *block = memory_alloc(t->memory, sizeof *block + room);
        if (!block) return NULL;
        block->next = t->texts;
        t->texts = block;
        t->text_at = block->bytes;
        t->text_end = block->bytes + room;
    }
    char *copy = t->text_at;
    if (length) memcpy(copy, bytes, length);
    copy[length] = 0;
    t->text_at += length + 1;
    return copy;
}

static uint32_t arity_of(const char *bytes, size_t length) {
    uint32_t colons = 0;
    for (size_t i = 0; i < length; i++) colons += bytes[i] == ':';
    if (colons || !length) return colons;
    unsigned char c = (unsigned char)bytes[0];
    bool word =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c >= 0x80 || (c >= '0' && c <= '9');
    return word ? 0 : 1;
}

/* Number of a fresh entry, or MAX_SYMBOLS. Lock held. */
static uint32_t new_entry(SymbolTable *t, const char *bytes, size_t length, uint64_t hash) {
    uint32_t number = t->count;
    if (number == MAX_SYMBOLS || length > UINT32_MAX) return MAX_SYMBOLS;
    Entry *_Atomic *block = &t->directory[number >> BLOCK_BITS];
    if (!atomic_load_explicit(block, memory_order_relaxed)) {
        Entry *fresh = memory_zalloc(t->memory, BLOCK_SIZE * sizeof *fresh);
        if (!fresh) return MAX_SYMBOLS;
        atomic_store_explicit(block, fresh, memory_order_release); /* pairs with entry_at */
    }
    char *text = copy_text(t, bytes, length);
    if (!text) return MAX_SYMBOLS;
    *entry_at(t, number) = (Entry){text, hash, (uint32_t)length, arity_of(bytes, length)};
    t->count++;
    return number;
}

/* ---- the index ---- */

static Index *index_new(const Memory *memory, uint32_t size) {
    Index *index = memory_zalloc(memory, sizeof *index + size * sizeof index->slots[0]);
    if (index) index->size = size;
    return index;
}

static Value index_find(const SymbolTable *t, const Index *index, const char *bytes, size_t length,
                        uint64_t hash) {
    for (uint32_t i = (uint32_t)hash;; i++) {
        /* acquire: pairs with the release store of index_put, so the entry is complete */
        uint32_t slot = atomic_load_explicit(&index->slots[i & (index->size - 1)], memory_order_acquire);
        if (!slot) return V_HOLE;
        const Entry *e = entry_at(t, slot - 1);
        if (e->hash == hash && e->length == length && (length == 0 || memcmp(e->text, bytes, length) == 0))
            return value_from_symbol(slot - 1);
    }
}

static void index_put(Index *index, uint64_t hash, uint32_t number) {
    uint32_t i = (uint32_t)hash;
    while (atomic_load_explicit(&index->slots[i & (index->size - 1)], memory_order_relaxed)) i++;
    /* release: pairs with index_find */
    atomic_store_explicit(&index->slots[i & (index->size - 1)], number + 1, memory_order_release);
}

/* Keeps the table at most half full. */
static bool index_make_room(SymbolTable *t) {
    Index *old = atomic_load_explicit(&t->index, memory_order_relaxed);
    if (t->count + 1 <= old->size / 2) return true;
    Index *grown = index_new(t->memory, old->size * 2);
    if (!grown) return false;
    for (uint32_t i = 0; i < t->count; i++) index_put(grown, entry_at(t, i)->hash, i);
    grown->outgrown = old;
    atomic_store_explicit(&t->index, grown, memory_order_release); /* pairs with find */
    return true;
}

static Value find(const SymbolTable *t, const char *bytes, size_t length, uint64_t hash) {
    /* acquire: pairs with the release store of index_make_room */
    return index_find(t, atomic_load_explicit(&t->index, memory_order_acquire), bytes, length, hash);
}

static Value insert(SymbolTable *t, const char *bytes, size_t length, uint64_t hash) {
    if (!index_make_room(t)) return V_HOLE;
    uint32_t number = new_entry(t, bytes, length, hash);
    if (number == MAX_SYMBOLS) return V_HOLE;
    index_put(atomic_load_explicit(&t->index, memory_order_relaxed), hash, number);
    return value_from_symbol(number);
}

/* ---- the interface ---- */

SymbolTable *symbols_new(const Memory *memory) {
    SymbolTable *t = memory_zalloc(memory, sizeof *t);
    if (!t) return NULL;
    t->memory = memory;
    pthread_mutex_init(&t->lock, NULL);
    atomic_init(&t->index, index_new(memory, INDEX_FIRST_SIZE));
    bool done = t->index != NULL;
    for (uint32_t i = 0; done && i < SYM_WELL_KNOWN_COUNT; i++) {
        const char *text = WELL_KNOWN[i].text;
        size_t length = strlen(text);
        done = insert(t, text, length, hash_bytes(text, length)) == value_from_symbol(i);
    }
    if (done) return t;
    symbols_free(t);
    return NULL;
}

void symbols_free(SymbolTable *t) {
    if (!t) return;
    for (Index *index = t->index; index;) {
        Index *outgrown = index->outgrown;
        memory_free(t->memory, index);
        index = outgrown;
    }
    for (TextBlock *block = t->texts; block;) {
        TextBlock *next = block->next;
        memory_free(t->memory, block);
        block = next;
    }
    for (uint32_t i = 0; i < DIRECTORY_SIZE; i++) memory_free(t->memory, t->directory[i]);
    pthread_mutex_destroy(&t->lock);
    memory_free(t->memory, t);
}

static Value intern(BtVm *vm, const char *bytes, size_t length, bool counted) {
    SymbolTable *t = vm->symbols;
    uint64_t hash = hash_bytes(bytes, length);
    Value found = find(t, bytes, length, hash);
    if (found != V_HOLE) return found;
    uint32_t bound = vm->max_symbols ? vm->max_symbols : DEFAULT_MAX_COUNTED;
    pthread_mutex_lock(&t->lock);
    found = find(t, bytes, length, hash);
    if (found == V_HOLE && !(counted && t->counted >= bound)) {
        found = insert(t, bytes, length, hash);
        if (found != V_HOLE && counted) t->counted++;
    }
    pthread_mutex_unlock(&t->lock);
    return found;
}

Value symbol_intern(BtVm *vm, const char *bytes, size_t length) { return intern(vm, bytes, length, false); }

Value symbol_intern_counted(BtVm *vm, const char *bytes, size_t length) {
    return intern(vm, bytes, length, true);
}

Value symbol_lookup(BtVm *vm, const char *bytes, size_t length) {
    return find(vm->symbols, bytes, length, hash_bytes(bytes, length));
}

const char *symbol_text(BtVm *vm, Value symbol, size_t *length) {
    const Entry *e = entry_at(vm->symbols, value_to_symbol(symbol));
    if (length) *length = e->length;
    return e->text;
}

uint64_t symbol_hash(BtVm *vm, Value symbol) { return entry_at(vm->symbols, value_to_symbol(symbol))->hash; }

unsigned symbol_arity(BtVm *vm, Value symbol) {
    return entry_at(vm->symbols, value_to_symbol(symbol))->arity;
}
