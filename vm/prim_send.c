/* What a primitive asks the interpreter to send. See prim.h. */
#include "vm/process.h"

PrimStatus prim_send(Process *p, Value receiver, Value selector, const Value *args, unsigned argc) {
    p->send->receiver = receiver;
    p->send->selector = selector;
    p->send->argc = argc < PRIM_SEND_MAX ? argc : PRIM_SEND_MAX;
    for (unsigned i = 0; i < p->send->argc; i++) p->send->args[i] = args[i];
    p->send->has_timeout = false;
    p->send->method = NULL;
    p->send->call_block = false;
    return PRIM_SEND;
}
