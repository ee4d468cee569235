/* Primitives of files. Calls on regular files run on the scheduler's thread: they are short, and a file that
 * is no regular file is refused where reading could wait. An expected failure is answered as the Symbol of
 * its kind; the library makes a Result of it. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "vm/bytecode/memory.h"
#include "vm/list.h"
#include "vm/prims/prim_support.h"
#include "vm/text.h"

#define READ_CHUNK ((size_t)1 << 16)

static const char *kind_of_errno(int code) {
    switch (code) {
    case ENOENT: return "file_not_found";
    case EACCES:
    case EPERM:
    case EROFS: return "permission_denied";
    case ENOTDIR: return "not_a_directory";
    case ENOTEMPTY: return "not_empty";
    case EEXIST: return "already_exists";
    default: return "io_error";
    }
}

static PrimStatus answer_symbol(Process *p, const char *text, Value *result) {
    *result = symbol_intern(p->vm, text, strlen(text));
    return *result == V_HOLE ? error_resource(p, NULL) : PRIM_OK;
}

static PrimStatus answer_errno(Process *p, Value *result) {
    return answer_symbol(p, kind_of_errno(errno), result);
}

/* The path as a C string for memory_free; NULL: no String, a NUL inside, or no memory. */
static char *path_of(Process *p, Value v) {
    if (!value_is_bytes(v)) return NULL;
    size_t length;
    const char *bytes = string_bytes(v, &length);
    return memchr(bytes, 0, length) ? NULL : native_text(p, v, &length);
}

/* ---- whole files ---- */

PRIM(prim_file_kind) {
    (void)count;
    char *path = path_of(p, args[1]);
    struct stat info;
    *result = V_NIL;
    int failed = path ? stat(path, &info) : -1;
    memory_free(p->vm->memory, path);
    if (failed) return PRIM_OK;
    return answer_symbol(p,
                         S_ISREG(info.st_mode)   ? "file"
                         : S_ISDIR(info.st_mode) ? "directory"
                                                 : "other",
                         result);
}

static bool read_to_end(int fd, Text *t) {
    for (;;) {
        if (!text_reserve(t, READ_CHUNK)) return true; /* the text says that it has failed */
        ssize_t n = read(fd, t->bytes + t->length, READ_CHUNK);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return n == 0;
        t->length += (size_t)n;
    }
}

static int open_regular(const char *path, int flags) {
    int fd = open(path, flags | O_CLOEXEC | O_NONBLOCK, 0666);
    if (fd < 0) return -1;
    struct stat info;
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) return fd;
    close(fd);
    errno = EINVAL;
    return -1;
}

PRIM(prim_file_read) {
    (void)count;
    char *path = path_of(p, args[1]);
    if (!path) return answer_symbol(p, "file_not_found", result);
    int fd = open_regular(path, O_RDONLY);
    memory_free(p->vm->memory, path);
    if (fd < 0) return answer_errno(p, result);
    Text t = text_for(p);
    bool read_all = read_to_end(fd, &t);
    int code = errno;
    close(fd);
    if (!read_all) {
        text_free(&t);
        errno = code;
        return answer_errno(p, result);
    }
    (void)process_charge(p, (uint32_t)(t.length / 256));
    return text_to_string(p, &t, result);
}

/* Makes the directories above the path; what exists is fine. */
static bool make_parents(char *path) {
    for (char *at = path + 1; *path && *at; at++) {
        if (*at != '/') continue;
        *at = 0;
        int failed = mkdir(path, 0777);
        int code = errno;
        *at = '/';
        if (failed && code != EEXIST) return errno = code, false;
    }
    return true;
}

/* open_regular for writing; the directories above the path are made if they are what is missing. */
static int open_making(char *path, int flags) {
    int fd = open_regular(path, flags);
    return fd < 0 && errno == ENOENT && make_parents(path) ? open_regular(path, flags) : fd;
}

static bool write_fully(int fd, const char *bytes, size_t length) {
    while (length) {
        ssize_t n = write(fd, bytes, length);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return false;
        bytes += n;
        length -= (size_t)n;
    }
    return true;
}

PRIM(prim_file_write) {
    (void)count;
    char *path = path_of(p, args[1]);
    if (!path) return answer_symbol(p, "io_error", result);
    int flags = O_WRONLY | O_CREAT | (args[3] == V_TRUE ? O_APPEND : O_TRUNC);
    int fd = open_making(path, flags);
    memory_free(p->vm->memory, path);
    *result = V_NIL;
    if (fd < 0) return answer_errno(p, result);
    size_t length;
    const char *bytes = string_bytes(args[2], &length);
    bool written = write_fully(fd, bytes, length);
    int code = errno;
    if (close(fd) != 0 && written) written = false, code = errno;
    (void)process_charge(p, (uint32_t)(length / 256));
    if (written) return PRIM_OK;
    errno = code;
    return answer_errno(p, result);
}

PRIM(prim_file_modified) {
    (void)count;
    char *path = path_of(p, args[1]);
    struct stat info;
    errno = ENOENT;
    int failed = path ? stat(path, &info) : -1;
    memory_free(p->vm->memory, path);
    if (failed) return answer_errno(p, result);
    return *result = value_from_int((int64_t)info.st_mtime), PRIM_OK;
}

/* ---- directories ---- */

static PrimStatus on_path(Process *p, Value *args, int (*act)(const char *path), Value *result) {
    char *path = path_of(p, args[1]);
    errno = ENOENT;
    int failed = path ? act(path) : -1;
    int code = errno;
    memory_free(p->vm->memory, path);
    *result = V_NIL;
    errno = code;
    return failed ? answer_errno(p, result) : PRIM_OK;
}

static int act_mkdir(const char *path) { return mkdir(path, 0777); }
static int act_parents(const char *path) { return make_parents((char *)(uintptr_t)path) ? 0 : -1; }
static int act_remove(const char *path) { return remove(path); }

PRIM(prim_file_mkdir) { return (void)count, on_path(p, args, act_mkdir, result); }
PRIM(prim_file_make_parents) { return (void)count, on_path(p, args, act_parents, result); }
PRIM(prim_file_delete) { return (void)count, on_path(p, args, act_remove, result); }

PRIM(prim_file_rename) {
    (void)count;
    char *from = path_of(p, args[1]), *to = path_of(p, args[2]);
    errno = ENOENT;
    int failed = from && to ? rename(from, to) : -1;
    int code = errno;
    memory_free(p->vm->memory, from);
    memory_free(p->vm->memory, to);
    *result = V_NIL;
    errno = code;
    return failed ? answer_errno(p, result) : PRIM_OK;
}

/* Names in no order; the library sorts. */
PRIM(prim_file_list) {
    (void)count;
    char *path = path_of(p, args[1]);
    errno = ENOENT;
    DIR *directory = path ? opendir(path) : NULL;
    memory_free(p->vm->memory, path);
    if (!directory) return answer_errno(p, result);
    Value roots[2] = {V_EMPTY_LIST, V_NIL};
    RootSpan span;
    roots_push(p, &span, roots, 2);
    PrimStatus status = PRIM_OK;
    for (struct dirent *entry; status == PRIM_OK && (entry = readdir(directory));) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
        status = string_from_cstring(p, entry->d_name, &roots[1]);
        if (status != PRIM_OK) break;
        roots[0] = list_cons(p, roots[1], roots[0]);
        if (roots[0] == V_HOLE) status = PRIM_RAISE;
    }
    roots_pop(p, &span);
    closedir(directory);
    *result = roots[0];
    return status;
}

PRIM(prim_file_cwd) {
    (void)args, (void)count;
    char *path = getcwd(NULL, 0);
    PrimStatus status = path ? string_from_cstring(p, path, result) : answer_errno(p, result);
    free(path); /* getcwd's own */
    return status;
}

PRIM(prim_file_temp_directory) {
    (void)args, (void)count;
    const char *path = getenv("TMPDIR");
    return string_from_cstring(p, path && *path ? path : "/tmp", result);
}

/* ---- handles ---- */

typedef struct {
    Counted counted;
    _Atomic int fd; /* -1: closed */
    uint8_t mode;   /* MODE_* */
} FileState;
enum { MODE_READ = 1, MODE_WRITE = 2 };

static void file_drop(const Memory *memory, Counted *c) {
    FileState *f = (FileState *)c;
    int fd = atomic_load_explicit(&f->fd, memory_order_relaxed);
    if (fd >= 0) close(fd);
    memory_free(memory, f);
}

static FileState *state_of(Value v) { return native_of(v, file_drop); }

/* args[2]: 0 read, 1 write, 2 append, 3 read and write. */
PRIM(prim_file_open) {
    (void)count;
    static const int FLAGS[] = {O_RDONLY, O_WRONLY | O_CREAT | O_TRUNC, O_WRONLY | O_CREAT | O_APPEND,
                                O_RDWR | O_CREAT};
    static const uint8_t MODES[] = {MODE_READ, MODE_WRITE, MODE_WRITE, MODE_READ | MODE_WRITE};
    int64_t mode = value_is_int(args[2]) ? value_to_int(args[2]) : -1;
    char *path = path_of(p, args[1]);
    if (!path || mode < 0 || mode > 3)
        return memory_free(p->vm->memory, path), answer_symbol(p, "file_not_found", result);
    int fd = mode == 0 ? open_regular(path, FLAGS[mode]) : open_making(path, FLAGS[mode]);
    memory_free(p->vm->memory, path);
    if (fd < 0) return answer_errno(p, result);
    FileState *f = memory_alloc(p->vm->memory, sizeof *f);
    if (!f || !heap_reserve(p, NATIVE_WORDS)) {
        memory_free(p->vm->memory, f);
        close(fd);
        return error_resource(p, NULL);
    }
    *f = (FileState){.mode = MODES[mode]};
    atomic_init(&f->fd, fd);
    return *result = native_new(p, special_payload(args[0]), &f->counted, file_drop, 64), PRIM_OK;
}

/* The open descriptor, or -1. */
static int open_fd(Value v) {
    FileState *f = state_of(v);
    return f ? atomic_load_explicit(&f->fd, memory_order_relaxed) : -1;
}

/* At most args[1] bytes, all that is left if that is negative. */
PRIM(prim_handle_read) {
    (void)count;
    int fd = open_fd(args[0]);
    int64_t wanted = value_is_int(args[1]) ? value_to_int(args[1]) : -1;
    if (fd < 0) return answer_symbol(p, "io_error", result);
    Text t = text_for(p);
    bool fine = true;
    if (wanted < 0) fine = read_to_end(fd, &t);
    while (fine && wanted > 0) {
        size_t chunk = (uint64_t)wanted < READ_CHUNK ? (size_t)wanted : READ_CHUNK;
        if (!text_reserve(&t, chunk)) break;
        ssize_t n = read(fd, t.bytes + t.length, chunk);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) {
            fine = n == 0;
            break;
        }
        t.length += (size_t)n;
        wanted -= n;
    }
    if (fine) return text_to_string(p, &t, result);
    text_free(&t);
    return answer_errno(p, result);
}

PRIM(prim_handle_write) {
    (void)count;
    int fd = open_fd(args[0]);
    size_t length;
    *result = V_NIL;
    if (fd < 0 || !value_is_bytes(args[1])) return answer_symbol(p, "io_error", result);
    const char *bytes = string_bytes(args[1], &length);
    return write_fully(fd, bytes, length) ? PRIM_OK : answer_errno(p, result);
}

/* args[2]: 0 from the start, 1 from the present position. */
PRIM(prim_handle_seek) {
    (void)count;
    int fd = open_fd(args[0]);
    if (fd < 0 || !value_is_int(args[1])) return answer_symbol(p, "io_error", result);
    off_t at = lseek(fd, (off_t)value_to_int(args[1]), args[2] == value_from_int(1) ? SEEK_CUR : SEEK_SET);
    if (at < 0) return answer_errno(p, result);
    return *result = value_from_int((int64_t)at), PRIM_OK;
}

PRIM(prim_handle_sync) {
    (void)count;
    int fd = open_fd(args[0]);
    *result = V_NIL;
    if (fd < 0) return answer_symbol(p, "io_error", result);
    return fsync(fd) == 0 ? PRIM_OK : answer_errno(p, result);
}

PRIM(prim_handle_close) {
    (void)p, (void)count;
    FileState *f = state_of(args[0]);
    int fd = f ? atomic_exchange_explicit(&f->fd, -1, memory_order_relaxed) : -1;
    if (fd >= 0) close(fd);
    return *result = V_NIL, PRIM_OK;
}

PRIM(prim_handle_is_open) {
    return (void)p, (void)count, *result = value_from_bool(open_fd(args[0]) >= 0), PRIM_OK;
}

/* 1 can be read, 2 can be written, 3 both. */
PRIM(prim_handle_mode) {
    (void)p, (void)count;
    FileState *f = state_of(args[0]);
    return *result = value_from_int(f ? f->mode : 0), PRIM_OK;
}
