/* A shim that is loaded before the C library: it writes down what a process does to the files of one folder,
   in order, and can let every sync from some number on fail, as a dying disk does. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static int log_fd = -1;
static long syncs = 0;

static int path_of(int fd, char *path, size_t size) {
    char link[64];
    const char *folder = getenv("RECORDED_FOLDER");
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, size - 1);
    if (n < 0 || !folder) return 0;
    path[n] = 0;
    return strncmp(path, folder, strlen(folder)) == 0;
}

/* One write for each record, to the end of the file: many processes write to it. */
static void record(char what, const char *path, int64_t offset, const void *data, int64_t length) {
    static ssize_t (*put)(int, const void *, size_t);
    const char *place = getenv("RECORD");
    if (!place) return;
    if (!put) put = dlsym(RTLD_NEXT, "write");
    if (log_fd < 0) log_fd = open(place, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (log_fd < 0) return;
    int64_t head[3] = {(int64_t)strlen(path), offset, data ? length : 0};
    size_t size = 1 + sizeof head + head[0] + head[2];
    char *line = malloc(size), *end = line;
    if (!line) abort();
    *end++ = what;
    end = (char *)memcpy(end, head, sizeof head) + sizeof head;
    end = (char *)memcpy(end, path, head[0]) + head[0];
    if (data) memcpy(end, data, head[2]);
    if (put(log_fd, line, size) != (ssize_t)size) abort();
    free(line);
}

static int sync_of(int fd, const char *name) {
    char path[4096];
    if (path_of(fd, path, sizeof path)) {
        const char *failing = getenv("FAIL_SYNCS_FROM");
        if (failing && ++syncs >= atol(failing)) { errno = EIO; return -1; }
        record('s', path, 0, 0, 0);
    }
    int (*next)(int) = dlsym(RTLD_NEXT, name);
    return next(fd);
}

int fsync(int fd) { return sync_of(fd, "fsync"); }
int fdatasync(int fd) { return sync_of(fd, "fdatasync"); }

static ssize_t pwrite_of(int fd, const void *data, size_t n, off64_t at, const char *name) {
    char path[4096];
    ssize_t (*next)(int, const void *, size_t, off64_t) = dlsym(RTLD_NEXT, name);
    ssize_t done = next(fd, data, n, at);
    if (done > 0 && path_of(fd, path, sizeof path)) record('w', path, at, data, done);
    return done;
}

ssize_t pwrite(int fd, const void *data, size_t n, off_t at) { return pwrite_of(fd, data, n, at, "pwrite"); }
ssize_t pwrite64(int fd, const void *data, size_t n, off64_t at) { return pwrite_of(fd, data, n, at, "pwrite64"); }

ssize_t write(int fd, const void *data, size_t n) {
    char path[4096];
    ssize_t (*next)(int, const void *, size_t) = dlsym(RTLD_NEXT, "write");
    ssize_t done = next(fd, data, n);
    if (done > 0 && fd != log_fd && path_of(fd, path, sizeof path))
        record('w', path, lseek(fd, 0, SEEK_CUR) - done, data, done);
    return done;
}

static ssize_t pwritev_of(int fd, const struct iovec *parts, int count, off64_t at, const char *name) {
    char path[4096];
    ssize_t (*next)(int, const struct iovec *, int, off64_t) = dlsym(RTLD_NEXT, name);
    ssize_t done = next(fd, parts, count, at), left = done;
    if (done <= 0 || !path_of(fd, path, sizeof path)) return done;
    for (int i = 0; i < count && left > 0; i++) {
        ssize_t size = left < (ssize_t)parts[i].iov_len ? left : (ssize_t)parts[i].iov_len;
        record('w', path, at, parts[i].iov_base, size);
        at += size;
        left -= size;
    }
    return done;
}

ssize_t pwritev(int fd, const struct iovec *parts, int n, off_t at) { return pwritev_of(fd, parts, n, at, "pwritev"); }
ssize_t pwritev64(int fd, const struct iovec *parts, int n, off64_t at) {
    return pwritev_of(fd, parts, n, at, "pwritev64");
}

static int truncate_of(int fd, off64_t size, const char *name) {
    char path[4096];
    int (*next)(int, off64_t) = dlsym(RTLD_NEXT, name);
    int done = next(fd, size);
    if (!done && path_of(fd, path, sizeof path)) record('t', path, size, 0, 0);
    return done;
}

int ftruncate(int fd, off_t size) { return truncate_of(fd, size, "ftruncate"); }
int ftruncate64(int fd, off64_t size) { return truncate_of(fd, size, "ftruncate64"); }

/* A name as it is given may begin at the folder where the process runs. */
static int is_in(const char *given, char *path, size_t size) {
    char here[4096];
    const char *folder = getenv("RECORDED_FOLDER");
    if (given[0] != '/' && !getcwd(here, sizeof here)) return 0;
    snprintf(path, size, "%s%s%s", given[0] == '/' ? "" : here, given[0] == '/' ? "" : "/", given);
    return folder && strncmp(path, folder, strlen(folder)) == 0;
}

static int opened(const char *path, int flags, mode_t mode, const char *name) {
    char full[8192];
    int (*next)(const char *, int, mode_t) = dlsym(RTLD_NEXT, name);
    int fd = next(path, flags, mode);
    if (fd >= 0 && flags & (O_CREAT | O_TRUNC) && is_in(path, full, sizeof full))
        record(flags & O_TRUNC ? 't' : 'c', full, 0, 0, 0);
    return fd;
}

#define OPEN(name) \
    int name(const char *path, int flags, ...) { \
        va_list more; \
        va_start(more, flags); \
        mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0; \
        va_end(more); \
        return opened(path, flags, mode, #name); \
    }
OPEN(open)
OPEN(open64)

static int named(char what, const char *from, const char *to, int done) {
    char before[8192], after[8192];
    if (!done && is_in(to, after, sizeof after) && is_in(from, before, sizeof before))
        record(what, after, 0, before, strlen(before));
    return done;
}

int link(const char *from, const char *to) {
    int (*next)(const char *, const char *) = dlsym(RTLD_NEXT, "link");
    return named('l', from, to, next(from, to));
}

int rename(const char *from, const char *to) {
    int (*next)(const char *, const char *) = dlsym(RTLD_NEXT, "rename");
    return named('m', from, to, next(from, to));
}

int unlink(const char *path) {
    char gone[8192];
    int (*next)(const char *) = dlsym(RTLD_NEXT, "unlink");
    int done = next(path);
    if (!done && is_in(path, gone, sizeof gone)) record('u', gone, 0, 0, 0);
    return done;
}
