/* Values as bytes and back (Binary serialize: and deserialize:). A prefix form of our own: a mark, then for
 * each value a tag, its counts as variable-length numbers, and its parts. Numbers, strings, symbols,
 * collections, instances, class objects, process ids and references can be written; blocks, actor references
 * and native handles cannot.
 *
 *   mark  "BT\x01"
 *   N T F        nil true false          i varint     small Integer, zigzag      I varint limbs   big
 * Integer: count << 1 | sign d 8 bytes    Float                   s varint ..  bytes                      y
 * varint ..      Symbol l varint ..  List                    t a varint ..  Tuple, Array             m varint
 * ..      Dictionary: keys and values alternating e varint ..  Set                     v name varint ..
 * instance: slots       c m-name         class object; C: metaclass p 8 bytes    process id              r 8
 * bytes    reference
 */
#ifndef BT_VM_WIRE_H
#define BT_VM_WIRE_H

#include "vm/text.h"

/* Appends v. False: something in it cannot be written (or t has failed). No allocation in the heap. */
bool wire_write(BtVm *vm, Text *t, Value v);
/* Reads one value from bytes off the heap (or in memory that does not move). PRIM_FAIL: malformed. *used:
 * bytes read. MAY_GC. */
PrimStatus wire_read(Process *p, const char *bytes, size_t length, Value *out, size_t *used);

#endif
