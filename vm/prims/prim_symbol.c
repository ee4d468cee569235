/* Primitives of Symbol. */
#include "vm/print.h"
#include "vm/prims/prim_text.h"

PRIM(prim_symbol_as_string) { return (void)count, string_from_symbol(p, args[0], result); }
PRIM(prim_symbol_print_string) { return (void)count, value_print_string(p, args[0], result); }
