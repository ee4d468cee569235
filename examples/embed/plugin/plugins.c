/* A host of plugins that it does not trust: each is Beamtalk text, run in a VM that denies what plugins have
 * no business with and limits what they may use. Whatever a plugin does, the host goes on.
 *
 * Build against an installed copy:  cc plugins.c $(pkg-config --cflags --libs beamtalk) -o plugins
 */
#include <stdio.h>
#include <string.h>
#include "beamtalk.h"

typedef struct {
    const char *name, *text;
} Plugin;

static const Plugin PLUGINS[] = {
    {"greeter", "Host say: \"hello, {Host user}\". 6 * 7"},
    {"endless loop", "[true] whileTrue: [[nil] ensure: [nil]]"},
    {"memory hog", "all := #(). [true] whileTrue: [all := all addFirst: (\"waste \" repeat: 1000)]"},
    {"growing text", "text := \"x\". [true] whileTrue: [text := text ++ text]"},
    {"deep recursion", "deeper := [:me :n | 1 + (me value: me value: n + 1)]. deeper value: deeper value: 0"},
    {"exit", "Program exit: 1"},
    {"spy", "File readAll: \"/etc/passwd\""},
    {"environment", "System getEnv: \"HOME\""},
    {"chatterbox", "[true] whileTrue: [Transcript show: \"blah \"]"},
    {"process flood", "[true] whileTrue: [VmProcess start: [Timer sleep: 3600000]]"},
    {"timer flood", "[true] whileTrue: [Timer after: 3600000 do: [nil]]"},
    {"sleeper", "Timer sleep: 3600000"},
    {"nonsense", "1 + )"},
    {"stranger", "Host format: #disk"},
    {"survivor", "([Program exit: 1] on: Error do: [:e | e hint]) size > 0"},
};
enum { PLUGIN_COUNT = sizeof PLUGINS / sizeof *PLUGINS };

static void say(bt_call *call, void *context) {
    (void)context;
    bt_value *text = bt_call_argument(call, 0);
    const char *bytes = bt_value_text(text, NULL);
    if (bytes)
        printf("  says %s\n", bytes);
    else
        bt_call_raise(call, "type_error", "say: takes a String", NULL);
    bt_value_release(text);
}

static void user(bt_call *call, void *context) {
    bt_value *name = bt_string(bt_call_vm(call), context, strlen(context));
    bt_call_answer(call, name);
    bt_value_release(name);
}

static void count_output(void *context, const char *bytes, size_t length) {
    (void)bytes;
    *(size_t *)context += length;
}

/* A VM for one plugin: what it leaves behind goes with it. */
static bt_vm *vm_for_plugin(size_t *printed) {
    static char name[] = "Ada";
    static const bt_method METHODS[] = {{"say:", say, NULL}, {"user", user, name}};
    const bt_config config = {.size = sizeof config,
                              .schedulers = 1,
                              .output = count_output,
                              .context = printed,
                              .denied = BT_DENY_ALL,
                              .reductions_limit = 5000000,
                              .deadline_ms = 500,
                              .heap_limit_bytes = 16u << 20,
                              .stack_limit_bytes = 4u << 20,
                              .output_limit_bytes = 10000,
                              .process_limit = 500,
                              .timer_limit = 500};
    bt_vm *vm = bt_vm_new(&config);
    if (vm && bt_vm_define_class(vm, "Host", METHODS, 2) != BT_OK) {
        bt_vm_free(vm);
        return NULL;
    }
    return vm;
}

static void report(const Plugin *plugin, bt_status status, const bt_result *result, size_t printed) {
    printf("%s: ", plugin->name);
    switch (status) {
    case BT_OK: printf("answers %s\n", bt_result_print_string(result)); break;
    case BT_RUNTIME_ERROR: printf("%s\n", bt_result_error_kind(result)); break;
    case BT_COMPILE_ERROR: printf("does not compile\n"); break;
    case BT_TIMEOUT: printf("took too long\n"); break;
    case BT_KILLED: printf("was ended\n"); break;
    default: printf("status %d\n", status); break;
    }
    if (printed) printf("  printed %zu bytes\n", printed);
}

int main(void) {
    for (int i = 0; i < PLUGIN_COUNT; i++) {
        size_t printed = 0;
        bt_vm *vm = vm_for_plugin(&printed);
        bt_session *session = bt_session_new(vm);
        bt_result *result = NULL;
        bt_status status = bt_vm_eval(session, PLUGINS[i].text, strlen(PLUGINS[i].text), NULL, &result);
        report(&PLUGINS[i], status, result, printed);
        bt_result_free(result);
        bt_session_free(session);
        bt_vm_free(vm);
    }
    return 0;
}
