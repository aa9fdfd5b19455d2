// The switch of a HotSpot with mistakes: which mistake is on, and whether a walk is struck.

#ifndef STACKWITNESS_SWITCH_HPP
#define STACKWITNESS_SWITCH_HPP

namespace stackwitness {

// The honest VM and each mistake, named as in the table.
enum class Mistake {
  honest,
#define STACKWITNESS_MISTAKE(identifier, name) identifier,
#include "mistakes.inc"
#undef STACKWITNESS_MISTAKE
};

// Set before the VM starts, from the environment variable STACKWITNESS_MUTANT.
extern Mistake chosen;

// Whether the walk that begins now is struck: one in so many is.
bool is_walk_struck();

// Adds a strike to the count, if it is one. Returns its argument.
bool counted(bool strike);

}  // namespace stackwitness

#endif  // STACKWITNESS_SWITCH_HPP
