// Puts jumps to wrappers at the entries of functions of libjvm, before any code of libjvm runs.
//
// libjvm needs this library, so the dynamic loader has mapped and relocated libjvm when the constructor here runs, and
// has run no constructor of libjvm's yet.

#include "wrappers.hpp"
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

namespace stackwitness {

// jmp rel32
static const unsigned char jump_opcode = 0xe9;
static const size_t jump_length = 5;
static const size_t page = 4096;

// Never an honest VM by mistake.
[[noreturn]] static void give_up(const char* function, const char* why) {
  fprintf(stderr, "STACKWITNESS_MUTANT: %s: %s\n", function, why);
  _exit(97);
}

static int find_libjvm(struct dl_phdr_info* library, size_t, void* found) {
  static const char name[] = "/libjvm.so";
  const size_t length = strlen(library->dlpi_name), end = sizeof(name) - 1;
  if (length < end || strcmp(library->dlpi_name + length - end, name) != 0) return 0;
  *static_cast<unsigned char**>(found) = reinterpret_cast<unsigned char*>(library->dlpi_addr);
  return 1;
}

// The distance from the end of an instruction, as its displacement has it.
static int32_t distance(const unsigned char* from, const unsigned char* to, const char* function) {
  const ptrdiff_t far = to - from;
  if (far != static_cast<int32_t>(far)) give_up(function, "libjvm is further away than a jump can go");
  return static_cast<int32_t>(far);
}

static void put_jump(unsigned char* at, const void* to, const char* function) {
  const int32_t far = distance(at + jump_length, static_cast<const unsigned char*>(to), function);
  at[0] = jump_opcode;
  memcpy(at + 1, &far, sizeof(far));
}

static void protect(unsigned char* from, size_t length, int protection, const char* function) {
  const uintptr_t start = reinterpret_cast<uintptr_t>(from) & ~(page - 1);
  const size_t whole = reinterpret_cast<uintptr_t>(from) + length - start;
  if (mprotect(reinterpret_cast<void*>(start), whole, protection) != 0) give_up(function, "mprotect failed");
}

// The moved entries of functions, with jumps to what follows the entries.
alignas(page) static unsigned char moved[page];
static size_t moved_length = 0;

static void install(unsigned char* libjvm, const Wrapper& it) {
  unsigned char* entry = libjvm + it.offset;
  if (memcmp(entry, it.code, it.length) != 0) give_up(it.function, "another libjvm than the one that this was built for");
  unsigned char* copy = moved + moved_length;
  moved_length += it.length + jump_length;
  if (moved_length > sizeof(moved)) give_up(it.function, "no more room");
  memcpy(copy, entry, it.length);
  if (it.displacement != 0) {
    // The displacement counts from the end of its instruction, which has moved with it: the last of `code`.
    int32_t to;
    memcpy(&to, entry + it.displacement, sizeof(to));
    to = distance(copy + it.length, entry + it.length + to, it.function);
    memcpy(copy + it.displacement, &to, sizeof(to));
  }
  put_jump(copy + it.length, entry + it.length, it.function);
  *it.original = copy;
  protect(entry, jump_length, PROT_READ | PROT_WRITE | PROT_EXEC, it.function);
  put_jump(entry, it.wrapper, it.function);
  protect(entry, jump_length, PROT_READ | PROT_EXEC, it.function);
}

// After the switch has read the environment.
__attribute__((constructor(102))) static void install_all() {
  if (chosen == Mistake::honest) return;
  unsigned char* libjvm = NULL;
  dl_iterate_phdr(find_libjvm, &libjvm);
  if (libjvm == NULL) give_up("libjvm.so", "is not loaded");
  for (const Wrapper* it = wrappers; it->function != NULL; it++) {
    if (it->mistake == chosen) install(libjvm, *it);
  }
  protect(moved, sizeof(moved), PROT_READ | PROT_EXEC, "the moved code");
}

}  // namespace stackwitness
