/* Preloaded before libc. Delays every flush of a file by FLUSH_DELAY_US microseconds and counts it in FLUSH_COUNTER. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static long unseen;
static long *count = &unseen;
static useconds_t delay;

__attribute__((constructor)) static void prepare(void) {
  const char *text = getenv("FLUSH_DELAY_US"), *path = getenv("FLUSH_COUNTER");
  delay = text ? (useconds_t)atoi(text) : 0;
  int file = path ? open(path, O_RDWR) : -1;
  if (file < 0) return;
  void *page = mmap(NULL, sizeof *count, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (page != MAP_FAILED) count = page;
  close(file);
}

static int flush(long number, int file) {
  __atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
  usleep(delay);
  return (int)syscall(number, file);
}

int fsync(int file) { return flush(SYS_fsync, file); }
int fdatasync(int file) { return flush(SYS_fdatasync, file); }
