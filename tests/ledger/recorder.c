/* A shim that is loaded before the C library: it writes down what a process does to the files of one folder,
   in order, and can let every sync from some number on fail, as a dying disk does. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
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

static void record(char what, const char *path, int64_t offset, const void *data, int64_t length) {
    static ssize_t (*put)(int, const void *, size_t);
    const char *place = getenv("RECORD");
    if (!place) return;
    if (!put) put = dlsym(RTLD_NEXT, "write");
    if (log_fd < 0) log_fd = open(place, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    int64_t head[3] = {(int64_t)strlen(path), offset, data ? length : 0};
    put(log_fd, &what, 1);
    put(log_fd, head, sizeof head);
    put(log_fd, path, head[0]);
    if (data) put(log_fd, data, length);
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

static int truncate_of(int fd, off64_t size, const char *name) {
    char path[4096];
    int (*next)(int, off64_t) = dlsym(RTLD_NEXT, name);
    int done = next(fd, size);
    if (!done && path_of(fd, path, sizeof path)) record('t', path, size, 0, 0);
    return done;
}

int ftruncate(int fd, off_t size) { return truncate_of(fd, size, "ftruncate"); }
int ftruncate64(int fd, off64_t size) { return truncate_of(fd, size, "ftruncate64"); }

int link(const char *from, const char *to) {
    int (*next)(const char *, const char *) = dlsym(RTLD_NEXT, "link");
    int done = next(from, to);
    const char *folder = getenv("RECORDED_FOLDER");
    if (!done && folder && strncmp(to, folder, strlen(folder)) == 0) record('l', to, 0, from, strlen(from));
    return done;
}

int unlink(const char *path) {
    int (*next)(const char *) = dlsym(RTLD_NEXT, "unlink");
    int done = next(path);
    const char *folder = getenv("RECORDED_FOLDER");
    if (!done && folder && strncmp(path, folder, strlen(folder)) == 0) record('u', path, 0, 0, 0);
    return done;
}
