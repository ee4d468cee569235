/* `beamtalk run --listen SOCKET`: a unix socket, for its owner only, through which `attach` and `top` reach
 * the running program. Each connection has a thread and a session of its own; what it evaluates runs beside
 * the program as one more process. */
#ifndef BT_CLI_LISTEN_H
#define BT_CLI_LISTEN_H

#include "beamtalk.h"

typedef struct Listener Listener;

/* NULL after a message. The VM must outlive it. */
Listener *listen_start(bt_vm *vm, const char *path);
/* Ends the connections, interrupting what they evaluate, and removes the socket. NULL is ignored. */
void listen_stop(Listener *listener);

#endif
