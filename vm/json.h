/* JSON text to values and back. The parser is yajl, which hands over the text of numbers, so integers of any
 * size are exact. Owner of all memory: the caller's process or the Text. Nesting deeper than JSON_MAX_DEPTH
 * is an error. */
#ifndef BT_VM_JSON_H
#define BT_VM_JSON_H

#include "vm/text.h"

#define JSON_MAX_DEPTH 100000u

/* Objects become Dictionaries with String keys (the last of equal keys wins), arrays Lists, null nil.
 * PRIM_FAIL: no JSON. PRIM_RAISE: resource_error. The text must be rooted by the caller (an argument).
 * MAY_GC. */
PrimStatus json_parse(Process *p, const Value *text, Value *out);

typedef enum { JSON_WRITTEN, JSON_FOREIGN, JSON_NO_MEMORY } JsonOutcome;
/* Writes Strings, Symbols, numbers, booleans, nil, Lists, Arrays, Dictionaries. JSON_FOREIGN: there is
 * something else in it, or bytes that are no text; what was appended means nothing then. No allocation in the
 * heap. */
JsonOutcome json_write(BtVm *vm, Text *t, Value v, bool pretty);

#endif
