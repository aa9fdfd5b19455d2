// What the wrapped functions take and fill in, as JDK 25 and 28 lay it out.

#ifndef STACKWITNESS_STRUCTURES_HPP
#define STACKWITNESS_STRUCTURES_HPP

#include <jni.h>
#include <jvmti.h>
#include <stdint.h>
#include <string.h>

namespace stackwitness {

// A frame that AsyncGetCallTrace reports; the BCI is -3 for a native method.
struct CallFrame {
  jint bci;
  jmethodID method;
};

// The answer of AsyncGetCallTrace (forte.cpp).
struct CallTrace {
  JNIEnv* env;
  jint count;
  CallFrame* frames;
};

// GrowableArray (growableArray.hpp).
template <typename Item>
struct Growable {
  int count;
  int capacity;
  Item* items;
};

// JfrStackFrame (jfrStackFrame.hpp).
struct JfrFrame {
  const void* klass;
  uint64_t method;
  int line;
  int bci;
  uint8_t type;
};

// JfrFrame::type of a native method.
static const uint8_t jfr_native = 3;

// JfrStackTrace (jfrStackTrace.hpp).
struct JfrTrace {
  const JfrTrace* next;
  Growable<JfrFrame>* frames;
  uint64_t id;
  uint64_t hash;
  uint32_t count;
  uint32_t most_frames;
  bool owns_frames;
  bool reached_root;
  bool line_numbers;
  bool written;
};

// ThreadStackTrace (threadService.hpp).
struct DumpedStack {
  void* thread;
  int depth;
  bool with_monitors;
  Growable<void*>* frames;
};

// A duration of JFR's clocks, passed by value in two registers.
struct Duration {
  uint64_t ticks;
  uint64_t fast_ticks;
};

// Takes `number` items from the array, beginning with the one at `index`.
template <typename Item>
void remove(Item* items, int& count, int index, int number = 1) {
  memmove(items + index, items + index + number, (count - index - number) * sizeof(Item));
  count -= number;
}

// Puts the first item in front of itself, if there is room for so many.
template <typename Item>
void repeat_first(Item* items, int& count) {
  memmove(items + 1, items, count * sizeof(Item));
  count++;
}

template <typename Item>
void exchange(Item& one, Item& other) {
  const Item kept = one;
  one = other;
  other = kept;
}

}  // namespace stackwitness

#endif  // STACKWITNESS_STRUCTURES_HPP
