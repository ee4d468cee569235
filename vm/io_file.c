/* Whole files, read and written on the pool. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "vm/alloc.h"
#include "vm/error.h"
#include "vm/io.h"
#include "vm/string.h"

enum { READ_CHUNK = 65536 };

PrimStatus io_raise_errno(Process *p, int error, Value class_name, Value selector) {
    const char *kind = NULL;
    switch (error) {
    case ENOENT: return error_raise(p, ERR_file_not_found, class_name, selector, NULL, NULL, V_NIL);
    case EACCES:
    case EPERM:
    case EROFS: return error_raise(p, ERR_permission_denied, class_name, selector, NULL, NULL, V_NIL);
    case ENOMEM: return error_resource(p, NULL);
    case EEXIST: kind = "already_exists"; break;
    case ENOTEMPTY: kind = "not_empty"; break;
    case ENOTDIR: kind = "not_a_directory"; break;
    default: return error_raise(p, ERR_io_error, class_name, selector, NULL, strerror(error), V_NIL);
    }
    Value symbol = symbol_intern(p->vm, kind, strlen(kind));
    return error_raise_symbol(p, symbol, class_name, selector, NULL, NULL, V_NIL);
}

static Value file_symbol(Process *p) { return symbol_intern(p->vm, "File", 4); }

/* ---- reading ---- */

static bool read_into(IoRequest *r, int fd, size_t size_hint) {
    size_t capacity = size_hint + READ_CHUNK;
    r->bytes = mem_alloc(capacity);
    for (;;) {
        if (!r->bytes) return errno = ENOMEM, false;
        ssize_t got = read(fd, r->bytes + r->length, capacity - r->length);
        if (got == 0) return true;
        if (got < 0 && errno != EINTR) return false;
        if (got > 0) r->length += (size_t)got;
        if (r->length < capacity) continue;
        capacity *= 2;
        char *bigger = mem_realloc(r->bytes, capacity);
        if (!bigger) return errno = ENOMEM, false;
        r->bytes = bigger;
    }
}

static void work_read(IoRequest *r) {
    struct stat info;
    int fd = open(r->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        r->error = errno;
        return;
    }
    bool regular = fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
    if (!read_into(r, fd, regular && info.st_size > 0 ? (size_t)info.st_size : 0)) r->error = errno;
    close(fd);
}

static void finish_read(Process *p, IoRequest *r) {
    if (r->error)
        (void)io_raise_errno(p, r->error, r->class_name, r->selector);
    else
        (void)string_new(p, r->bytes, r->length, &p->resume_value);
}

/* ---- writing ---- */

/* Makes the directories that lead to the file. */
static bool make_parents(char *path) {
    for (char *at = path + 1; (at = strchr(at, '/')) != NULL; at++) {
        *at = 0;
        int failed = mkdir(path, 0777);
        *at = '/';
        if (failed && errno != EEXIST) return false;
    }
    return true;
}

static void work_write(IoRequest *r) {
    int mode = O_WRONLY | O_CREAT | O_CLOEXEC | (r->flags ? O_APPEND : O_TRUNC);
    int fd = open(r->path, mode, 0666);
    if (fd < 0 && errno == ENOENT && make_parents(r->path)) fd = open(r->path, mode, 0666);
    if (fd < 0) {
        r->error = errno;
        return;
    }
    for (size_t done = 0; done < r->length && !r->error;) {
        ssize_t written = write(fd, r->bytes + done, r->length - done);
        if (written >= 0)
            done += (size_t)written;
        else if (errno != EINTR)
            r->error = errno;
    }
    if (close(fd) != 0 && !r->error) r->error = errno;
}

static void finish_write(Process *p, IoRequest *r) {
    if (r->error) (void)io_raise_errno(p, r->error, r->class_name, r->selector);
}

/* ---- submitting ---- */

static char *copy_bytes(const char *bytes, size_t length) {
    char *copy = mem_alloc(length + 1);
    if (!copy) return NULL;
    if (length) memcpy(copy, bytes, length);
    copy[length] = 0;
    return copy;
}

static IoRequest *file_request(Process *p, const char *path, size_t length, Value selector,
                               void (*work)(IoRequest *), void (*finish)(Process *, IoRequest *)) {
    IoRequest *r = io_request_new(p->vm, work, finish);
    if (!r) return NULL;
    r->class_name = file_symbol(p);
    r->selector = selector;
    r->path = copy_bytes(path, length);
    if (!r->path) return io_request_free(r), NULL;
    return r;
}

PrimStatus io_read_file(Process *p, const char *path, size_t path_length, Value selector) {
    if (memchr(path, 0, path_length)) return io_raise_errno(p, ENOENT, file_symbol(p), selector);
    IoRequest *r = file_request(p, path, path_length, selector, work_read, finish_read);
    return r ? io_submit(p, r, -1) : error_resource(p, NULL);
}

PrimStatus io_write_file(Process *p, const char *path, size_t path_length, const char *bytes, size_t length,
                         bool append, Value selector) {
    if (memchr(path, 0, path_length)) return io_raise_errno(p, EINVAL, file_symbol(p), selector);
    IoRequest *r = file_request(p, path, path_length, selector, work_write, finish_write);
    if (!r) return error_resource(p, NULL);
    r->flags = append;
    r->length = length;
    r->bytes = copy_bytes(bytes, length);
    if (!r->bytes) return io_request_free(r), error_resource(p, NULL);
    return io_submit(p, r, -1);
}
