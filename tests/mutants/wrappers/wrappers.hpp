// Wrappers of functions of a libjvm that was built elsewhere.

#ifndef STACKWITNESS_WRAPPERS_HPP
#define STACKWITNESS_WRAPPERS_HPP

#include "switch.hpp"
#include <stddef.h>

namespace stackwitness {

// A function of libjvm, and the wrapper that runs in its place while a mistake is on.
struct Wrapper {
  Mistake mistake;
  const char* function;
  // Distance of the function's entry from the start of libjvm.
  size_t offset;
  // The whole instructions at the entry that a jump overwrites.
  const unsigned char* code;
  size_t length;
  // The position of a displacement in `code` that is relative to the program counter; 0 if there is none.
  size_t displacement;
  void* wrapper;
  // Receives the code that does what the function did.
  void** original;
};

// Ends with a wrapper without a function.
extern const Wrapper wrappers[];

}  // namespace stackwitness

#endif  // STACKWITNESS_WRAPPERS_HPP
