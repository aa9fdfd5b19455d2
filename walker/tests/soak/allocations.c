/*
 * Preloaded before the JVM's own malloc: counts what one library has allocated and not freed. The library's calls are
 * known by their return addresses. The file that the variable ALLOCATIONS names holds the bytes and the blocks.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void __libc_free(void *);

typedef struct {
  atomic_long bytes, blocks;
} Counts;

static Counts unmapped, *counts = &unmapped;
static uintptr_t from, to, wanted;

static void note(void *block, void *caller, int sign) {
  uintptr_t at = (uintptr_t)caller;
  if (block == NULL || at < from || at >= to) return;
  atomic_fetch_add(&counts->bytes, sign * (long)malloc_usable_size(block));
  atomic_fetch_add(&counts->blocks, sign);
}

static int look(struct dl_phdr_info *info, size_t size, void *argument) {
  (void)size, (void)argument;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &info->dlpi_phdr[i];
    uintptr_t start = info->dlpi_addr + part->p_vaddr;
    if (part->p_type == PT_LOAD && wanted >= start && wanted < start + part->p_memsz) {
      to = start + part->p_memsz;
      from = start;
    }
  }
  return 0;
}

/* Counts for the library that has this function. Called before the library allocates. */
void count_allocations_of(void *function) {
  wanted = (uintptr_t)function;
  const char *name = getenv("ALLOCATIONS");
  int file = name ? open(name, O_RDWR | O_CREAT, 0600) : -1;
  if (file < 0 || ftruncate(file, sizeof *counts)) abort();
  Counts *mapped = mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (mapped == MAP_FAILED) abort();
  counts = mapped;
  dl_iterate_phdr(look, NULL);
}

void *malloc(size_t size) {
  void *block = __libc_malloc(size);
  note(block, __builtin_return_address(0), 1);
  return block;
}

void *calloc(size_t count, size_t size) {
  void *block = __libc_calloc(count, size);
  note(block, __builtin_return_address(0), 1);
  return block;
}

void *realloc(void *old, size_t size) {
  note(old, __builtin_return_address(0), -1);
  void *block = __libc_realloc(old, size);
  /* The old block stays where there is no new one. */
  note(block ? block : old, __builtin_return_address(0), 1);
  return block;
}

int posix_memalign(void **block, size_t alignment, size_t size) {
  *block = __libc_memalign(alignment, size);
  note(*block, __builtin_return_address(0), 1);
  return *block ? 0 : ENOMEM;
}

void free(void *block) {
  note(block, __builtin_return_address(0), -1);
  __libc_free(block);
}
