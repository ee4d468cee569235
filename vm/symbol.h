/* Symbols: interned text, numbered. Owner: the VM. Interning takes the table's lock; reading text of a known
 * index takes none (entries never move or go). Text made into symbols at run time is bounded by
 * vm->max_symbols. */
#ifndef BT_VM_SYMBOL_H
#define BT_VM_SYMBOL_H

#include "vm/bytecode/memory.h"
#include "vm/value.h"
#include <stddef.h>

typedef struct BtVm BtVm;
typedef enum {
#define SYM(name, text) SYM_##name,
#include "vm/symbols.def"
#undef SYM
    SYM_WELL_KNOWN_COUNT
} WellKnownSymbol;
#define SYMBOL(name) value_from_symbol(SYM_##name)

/* value, value:, value:value:, ...: the sends that run a Block. */
static inline bool selector_is_value_family(Value selector) {
    return selector == SYMBOL(value) || selector == SYMBOL(value_1) || selector == SYMBOL(value_2) ||
           selector == SYMBOL(value_3);
}

typedef struct SymbolTable SymbolTable;
SymbolTable *symbols_new(const Memory *memory);
void symbols_free(SymbolTable *t);
/* V_HOLE if out of memory or (counted only) over the bound. Any thread. */
Value symbol_intern(BtVm *vm, const char *bytes, size_t length);
Value symbol_intern_counted(BtVm *vm, const char *bytes, size_t length);
/* V_HOLE if never interned. */
Value symbol_lookup(BtVm *vm, const char *bytes, size_t length);
/* UTF-8 text, NUL terminated, lives as long as the VM. */
const char *symbol_text(BtVm *vm, Value symbol, size_t *length);
/* Hash by content, equal from run to run. */
uint64_t symbol_hash(BtVm *vm, Value symbol);
/* Number of ':' in it, or 1 for an operator, 0 for a unary selector. */
unsigned symbol_arity(BtVm *vm, Value symbol);

#endif
