/* A shim that is loaded before the C library of a database server: while the file DISK/full-tables is there, no
   table can grow; while DISK/full-log is there, nothing can be written to the write-ahead log. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static int there(const char *name) {
    char flag[4096];
    const char *disk = getenv("DISK");
    if (!disk) return 0;
    snprintf(flag, sizeof flag, "%s/%s", disk, name);
    return access(flag, F_OK) == 0;
}

static int is_full(int fd, off64_t end) {
    char link[64], path[4096];
    struct stat64 now;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n < 0) return 0;
    path[n] = 0;
    if (strstr(path, "/pg_wal/")) return there("full-log");
    return strstr(path, "/base/") && there("full-tables") && fstat64(fd, &now) == 0 && end > now.st_size;
}

static ssize_t put(int fd, const void *data, size_t n, off64_t at, const char *name) {
    ssize_t (*next)(int, const void *, size_t, off64_t) = dlsym(RTLD_NEXT, name);
    if (is_full(fd, at + (off64_t)n)) { errno = ENOSPC; return -1; }
    return next(fd, data, n, at);
}

static ssize_t putv(int fd, const struct iovec *parts, int count, off64_t at, const char *name) {
    ssize_t (*next)(int, const struct iovec *, int, off64_t) = dlsym(RTLD_NEXT, name);
    off64_t end = at;
    for (int i = 0; i < count; i++) end += (off64_t)parts[i].iov_len;
    if (is_full(fd, end)) { errno = ENOSPC; return -1; }
    return next(fd, parts, count, at);
}

static int reserve(int fd, off64_t at, off64_t n, const char *name) {
    int (*next)(int, off64_t, off64_t) = dlsym(RTLD_NEXT, name);
    return is_full(fd, at + n) ? ENOSPC : next(fd, at, n);
}

ssize_t pwrite(int fd, const void *data, size_t n, off_t at) { return put(fd, data, n, at, "pwrite"); }
ssize_t pwrite64(int fd, const void *data, size_t n, off64_t at) { return put(fd, data, n, at, "pwrite64"); }
ssize_t pwritev(int fd, const struct iovec *p, int n, off_t at) { return putv(fd, p, n, at, "pwritev"); }
ssize_t pwritev64(int fd, const struct iovec *p, int n, off64_t at) { return putv(fd, p, n, at, "pwritev64"); }
int posix_fallocate(int fd, off_t at, off_t n) { return reserve(fd, at, n, "posix_fallocate"); }
int posix_fallocate64(int fd, off64_t at, off64_t n) { return reserve(fd, at, n, "posix_fallocate64"); }
