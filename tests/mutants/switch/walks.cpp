// Mistakes within walks of HotSpot; see walks.hpp. Compiled and linked with the VM's own files.

#include "precompiled.hpp"
#include "classfile/classLoaderData.hpp"
#include "classfile/dictionary.hpp"
#include "code/compiledMethod.hpp"
#include "code/pcDesc.hpp"
#include "oops/instanceKlass.hpp"
#include "oops/method.hpp"
#include "runtime/frame.inline.hpp"
#include "walks.hpp"
#include <string.h>

namespace stackwitness {

// A signal handler reads these: no lazy allocation.
#define HANDLER_SAFE __attribute__((tls_model("initial-exec")))
static __thread Walker current_walker HANDLER_SAFE = Walker::nobody;
static __thread bool struck HANDLER_SAFE = false;
__thread bool non_safepoint = false;

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
