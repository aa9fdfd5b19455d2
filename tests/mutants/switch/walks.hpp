// Mistakes within walks of HotSpot: which walker walks now, and what its mistakes need of the VM.

#ifndef STACKWITNESS_WALKS_HPP
#define STACKWITNESS_WALKS_HPP

#include "switch.hpp"
#include <stddef.h>

class Method;
class CompiledMethod;
class frame;

namespace stackwitness {

enum class Walker { nobody, asgct, gst };

// Marks the extent of a stack walk by the thread that runs now. Walks nest: a signal may
// interrupt GetStackTrace and call AsyncGetCallTrace.
class Walk {
  const Walker _outer_walker;
  const bool _outer_struck;

 public:
  explicit Walk(Walker walker);
  ~Walk();
};

// True if the walker walks on this thread, the mistake is on, and this walk is struck. The
// answer is counted, so ask last.
bool on(Walker walker, Mistake mistake);

// True if the mistake is on, for mistakes outside of walks. The answer is counted.
bool on(Mistake mistake);

// The compiler thread's last debug info record is not a safepoint's.
extern __thread bool non_safepoint;

// True if `f` is a frame of compiled Java code, with debug info.
bool is_compiled_java(const frame& f);

// True if `f` is a frame of Java code that C1 (or else C2) compiled.
bool is_by_c1(const frame& f);
bool is_by_c2(const frame& f);

// Moves the pc of a compiled frame to its neighbour's debug info record, if there is one.
void move_to_neighbour(frame& f, int step);

// The method that replaced a redefined method, and the method that a redefinition replaced;
// the argument if there is none.
Method* replacement_of(Method* method);
Method* replaced_by(Method* method);

// Another method of the same class.
Method* sibling_of(Method* method);

// A frame that AsyncGetCallTrace reports.
struct Reported {
  int bci;
  void* method_id;
};

// Remembers the walk, and gives the walk that was remembered before: its number of frames, or 0.
int exchange_with_previous(Reported* frames, int count, int room);

}  // namespace stackwitness

#endif  // STACKWITNESS_WALKS_HPP
