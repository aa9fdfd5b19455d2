// The switch of a HotSpot with mistakes; see switch.hpp. It knows nothing of HotSpot.

#include "switch.hpp"
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

namespace stackwitness {

Mistake chosen = Mistake::honest;

// One walk in so many is struck.
static uint64_t one_in = 1;
static volatile uint64_t walks = 0;

static const char* const names[] = {
    "honest",
#define STACKWITNESS_MISTAKE(identifier, name) name,
#include "mistakes.inc"
#undef STACKWITNESS_MISTAKE
};

// Reads NAME or NAME/N. A word that names no mistake ends the process: it must never be
// taken for an honest VM.
static void choose(const char* wish) {
  const size_t length = strcspn(wish, "/");
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
    if (strlen(names[i]) == length && strncmp(names[i], wish, length) == 0) {
      chosen = static_cast<Mistake>(i);
      one_in = wish[length] == '/' ? strtoull(wish + length + 1, NULL, 10) : 1;
      if (one_in != 0) return;
    }
  }
  fprintf(stderr, "STACKWITNESS_MUTANT=%s: no such mistake\n", wish);
  _exit(97);
}

// How often the mistake struck; in the file of STACKWITNESS_MUTANT_COUNT, which all processes
// share and which outlives a crash.
static uint64_t own_strikes = 0;
static uint64_t* strikes = &own_strikes;

static void share_strikes(const char* path) {
  const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  void* shared = MAP_FAILED;
  if (file >= 0 && ftruncate(file, sizeof(uint64_t)) == 0) {
    shared = mmap(NULL, sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  }
  if (shared == MAP_FAILED) {
    perror(path);
    _exit(97);
  }
  close(file);
  strikes = static_cast<uint64_t*>(shared);
}

static const char* variable(const char* name) {
  const char* value = getenv(name);
  return value == NULL || *value == '\0' ? NULL : value;
}

// Before all other constructors of the library.
__attribute__((constructor(101))) static void read_environment() {
  if (const char* wish = variable("STACKWITNESS_MUTANT")) choose(wish);
  if (const char* path = variable("STACKWITNESS_MUTANT_COUNT")) share_strikes(path);
}

bool counted(bool strike) {
  if (strike) __sync_fetch_and_add(strikes, 1);
  return strike;
}

// Scatters the struck walks, so that they do not fall into step with the program.
bool is_walk_struck() {
  if (one_in == 1) return true;
  uint64_t x = __sync_add_and_fetch(&walks, 1) * UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
  return (x ^ (x >> 31)) % one_in == 0;
}

}  // namespace stackwitness
