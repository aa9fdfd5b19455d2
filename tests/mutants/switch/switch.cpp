// The switch of a mutant HotSpot; see switch.hpp. Compiled and linked with the VM's own files.

#include "precompiled.hpp"
#include "classfile/classLoaderData.hpp"
#include "classfile/dictionary.hpp"
#include "code/compiledMethod.hpp"
#include "code/pcDesc.hpp"
#include "oops/instanceKlass.hpp"
#include "oops/method.hpp"
#include "runtime/frame.inline.hpp"
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

// A signal handler reads these: no lazy allocation.
#define HANDLER_SAFE __attribute__((tls_model("initial-exec")))
static __thread Walker current_walker HANDLER_SAFE = Walker::nobody;
static __thread bool struck HANDLER_SAFE = false;
__thread bool non_safepoint = false;

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

__attribute__((constructor)) static void read_environment() {
  if (const char* wish = variable("STACKWITNESS_MUTANT")) choose(wish);
  if (const char* path = variable("STACKWITNESS_MUTANT_COUNT")) share_strikes(path);
}

static bool counted(bool strike) {
  if (strike) __sync_fetch_and_add(strikes, 1);
  return strike;
}

// Scatters the struck walks, so that they do not fall into step with the program.
static bool is_walk_struck() {
  if (one_in == 1) return true;
  uint64_t x = __sync_add_and_fetch(&walks, 1) * UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
  return (x ^ (x >> 31)) % one_in == 0;
}

Walk::Walk(Walker walker) : _outer_walker(current_walker), _outer_struck(struck) {
  struck = chosen != Mistake::honest && is_walk_struck();
  current_walker = walker;
}

Walk::~Walk() {
  current_walker = _outer_walker;
  struck = _outer_struck;
}

bool on(Walker walker, Mistake mistake) {
  return counted(chosen == mistake && current_walker == walker && struck);
}

bool on(Mistake mistake) { return counted(chosen == mistake); }

static CompiledMethod* java_code(const frame& f) {
  CompiledMethod* code = f.cb() == NULL ? NULL : f.cb()->as_compiled_method_or_null();
  return code == NULL || code->is_native_method() ? NULL : code;
}

bool is_compiled_java(const frame& f) { return java_code(f) != NULL; }

bool is_by_c1(const frame& f) {
  CompiledMethod* code = java_code(f);
  return code != NULL && code->is_compiled_by_c1();
}

bool is_by_c2(const frame& f) {
  CompiledMethod* code = java_code(f);
  return code != NULL && code->is_compiled_by_c2();
}

void move_to_neighbour(frame& f, int step) {
  CompiledMethod* code = java_code(f);
  PcDesc* here = code == NULL ? NULL : code->pc_desc_at(f.pc());
  if (here == NULL) return;
  PcDesc* there = here + step;
  // The first and the last record are sentinels.
  if (there <= code->scopes_pcs_begin() || there >= code->scopes_pcs_end() - 1) return;
  f.set_pc(there->real_pc(code));
}

Method* replacement_of(Method* method) {
  if (!method->is_old()) return method;
  InstanceKlass* holder = method->method_holder();
  Dictionary* dictionary = holder->class_loader_data()->dictionary();
  if (dictionary == NULL) return method;
  Symbol* name = holder->name();
  InstanceKlass* running = dictionary->find_class(dictionary->compute_hash(name), name);
  Method* found = running == NULL ? NULL : running->find_method(method->name(), method->signature());
  return found == NULL ? method : found;
}

Method* replaced_by(Method* method) {
  InstanceKlass* previous = method->method_holder()->previous_versions();
  Method* found = previous == NULL ? NULL : previous->find_method(method->name(), method->signature());
  return found == NULL ? method : found;
}

Method* sibling_of(Method* method) {
  Array<Method*>* methods = method->method_holder()->methods();
  for (int i = 0; i < methods->length(); i++) {
    if (methods->at(i) != method && !methods->at(i)->is_native()) return methods->at(i);
  }
  return method;
}

int exchange_with_previous(Reported* frames, int count, int room) {
  static const int most = 4096;
  static Reported previous[most];
  static Reported swap[most];
  static int previous_count = 0;
  static int busy = 0;
  if (count > most || !__sync_bool_compare_and_swap(&busy, 0, 1)) return 0;
  const int given = previous_count < room ? previous_count : room;
  memcpy(swap, frames, count * sizeof(Reported));
  memcpy(frames, previous, given * sizeof(Reported));
  memcpy(previous, swap, count * sizeof(Reported));
  previous_count = count;
  __sync_lock_release(&busy);
  return given;
}

}  // namespace stackwitness
