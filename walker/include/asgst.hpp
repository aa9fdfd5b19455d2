/*
 * profile2.h for C++17 and later: walks as ranges, traces and names without pointers, queues that remove
 * themselves. Header only, and without cost: every function that profile2.h calls async-signal-safe is so here.
 *
 *   asgst::walk(ucontext, [&](asgst::Frames frames) {
 *     for (const asgst::Frame &frame : frames) ...;
 *   });
 */
#ifndef ASGST_HPP
#define ASGST_HPP

#if __cplusplus < 201703L
#error "asgst.hpp needs C++17 (-std=c++17); profile2.h has the same functions for C and older C++"
#endif

#include "profile2.h"

#include <cstddef>
#include <iterator>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace asgst {

using Frame = ASGST_Frame;

/* What a walk came to: the kind of the trace, or an error. */
class [[nodiscard]] Result {
 public:
  /* Of the functions that return an ASGST_Error or 1 + an ASGST_TRACE_KIND. */
  explicit constexpr Result(int code) noexcept : code_(code) {}
  constexpr bool ok() const noexcept { return code_ > 0; }
  constexpr explicit operator bool() const noexcept { return ok(); }
  constexpr bool is_java() const noexcept {
    return ok() && kind() != ASGST_CPP_TRACE && kind() != ASGST_UNKNOWN_TRACE;
  }
  /* An ASGST_TRACE_KIND; ASGST_UNKNOWN_TRACE after an error. */
  constexpr int kind() const noexcept { return ok() ? code_ - 1 : ASGST_UNKNOWN_TRACE; }
  /* An ASGST_Error; ASGST_NO_FRAME if there is none. */
  constexpr int error() const noexcept { return ok() ? ASGST_NO_FRAME : code_; }
  constexpr int code() const noexcept { return code_; }

 private:
  int code_;
};

/* What is known of a frame's BCI and of the frames that are inlined above it. */
inline bool has_bci(const Frame &frame) noexcept { return frame.bci >= 0; }
inline bool may_miss_inlined(const Frame &frame) noexcept {
  return (frame.flags & ASGST_FRAME_MAY_MISS_INLINED) != 0;
}
inline bool is_likely(const Frame &frame) noexcept { return (frame.flags & ASGST_FRAME_LIKELY) != 0; }
inline bool is_of_method(const Frame &frame) noexcept { return frame.method != nullptr; }

/*
 * The frames of a walk, callees first: an input range. It is valid within the call that gave it. A loop over it
 * continues where the last one ended; rewind() starts again at the top.
 */
class Frames {
 public:
  class Sentinel {};

  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using iterator_concept = std::input_iterator_tag;
    using value_type = Frame;
    using difference_type = std::ptrdiff_t;
    using pointer = const Frame *;
    using reference = const Frame &;

    Iterator() noexcept = default;
    explicit Iterator(ASGST_Iterator *walk) noexcept : walk_(walk) { ++*this; }
    reference operator*() const noexcept { return frame_; }
    pointer operator->() const noexcept { return &frame_; }
    Iterator &operator++() noexcept {
      has_frame_ = ASGST_NextFrame(walk_, &frame_) == 1;
      return *this;
    }
    Iterator operator++(int) noexcept {
      Iterator before = *this;
      ++*this;
      return before;
    }
    friend bool operator==(const Iterator &at, Sentinel) noexcept { return !at.has_frame_; }
    friend bool operator!=(const Iterator &at, Sentinel) noexcept { return at.has_frame_; }
#if __cplusplus < 202002L
    friend bool operator==(Sentinel, const Iterator &at) noexcept { return !at.has_frame_; }
    friend bool operator!=(Sentinel, const Iterator &at) noexcept { return at.has_frame_; }
#endif

   private:
    ASGST_Iterator *walk_ = nullptr;
    Frame frame_{};
    bool has_frame_ = false;
  };

  explicit Frames(ASGST_Iterator *walk) noexcept : walk_(walk) {}
  Iterator begin() const noexcept { return Iterator(walk_); }
  Sentinel end() const noexcept { return {}; }
  /* The next frame into frame; false at the end, and where the walk fails. */
  bool next(Frame &frame) const noexcept { return ASGST_NextFrame(walk_, &frame) == 1; }
  void rewind() const noexcept { ASGST_RewindIterator(walk_); }
  /* After a loop: ASGST_NO_FRAME at the bottom of the stack, or the ASGST_Error that ended the walk. */
  int error() const noexcept {
    int state = ASGST_State(walk_);
    return state == 1 ? int{ASGST_NO_FRAME} : state;
  }
  ASGST_Iterator *get() const noexcept { return walk_; }

 private:
  ASGST_Iterator *walk_;
};

namespace detail {
/* Exceptions cannot pass the library's frames: a function that throws ends the program. */
template <typename F>
void call(ASGST_Iterator *iterator, void *function) noexcept {
  (*static_cast<F *>(function))(Frames(iterator));
}
template <typename F>
void *address(F &function) noexcept {
  return const_cast<void *>(static_cast<const void *>(std::addressof(function)));
}
}  // namespace detail

/* See ASGST_Initialize: true if this VM can be walked. */
inline bool initialize(JNIEnv *env) noexcept { return ASGST_Initialize(env) == 0; }

/* Calls function with the frames of the calling thread, which was interrupted at ucontext. Async-signal-safe. */
template <typename F>
Result walk(void *ucontext, F &&function, int options = 0) noexcept {
  using Function = std::remove_reference_t<F>;
  return Result(
      ASGST_RunWithIterator(ucontext, options, detail::call<Function>, detail::address(function)));
}

/* Likewise, from a frame: see ASGST_RunWithIteratorFromFrame. */
template <typename F>
Result walk_from(void *sp, void *fp, void *pc, F &&function, int options = 0) noexcept {
  using Function = std::remove_reference_t<F>;
  return Result(ASGST_RunWithIteratorFromFrame(sp, fp, pc, options, detail::call<Function>,
                                               detail::address(function)));
}

/* At most Depth frames of a walk, kept in place: for static or preallocated memory. */
template <std::size_t Depth>
class Trace {
 public:
  /* Walks the calling thread. Keeps nothing if the walk fails. Async-signal-safe. */
  Result take(void *ucontext, int options = 0) noexcept {
    size_ = 0;
    int error = ASGST_NO_FRAME;
    Result result = walk(
        ucontext, [&](Frames frames) noexcept { error = take(frames); }, options);
    return error < 0 ? Result(error) : result;
  }
  /* Keeps frames of a walk. Returns ASGST_NO_FRAME, or the ASGST_Error of a walk that fails, and keeps nothing. */
  int take(Frames frames) noexcept {
    size_ = 0;
    while (size_ < Depth && frames.next(frames_[size_])) size_++;
    int error = size_ < Depth ? frames.error() : int{ASGST_NO_FRAME};
    if (error < 0) size_ = 0;
    return error;
  }
  const Frame *begin() const noexcept { return frames_; }
  const Frame *end() const noexcept { return frames_ + size_; }
  const Frame *data() const noexcept { return frames_; }
  const Frame &operator[](std::size_t at) const noexcept { return frames_[at]; }
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }

 private:
  Frame frames_[Depth];
  std::size_t size_ = 0;
};

/* The names of a method; empty if its class was unloaded. Allocates. */
struct MethodName {
  std::string class_name{}; /* with dots */
  std::string name{};
  std::string signature{}; /* a descriptor of class files */

  std::string full() const { return name.empty() ? "(unloaded)" : class_name + "." + name; }
};

inline MethodName name_of(ASGST_Method method) {
  MethodName names;
  if (method == nullptr) return names;
  ASGST_MethodInfo lengths{};
  ASGST_GetMethodInfo(method, &lengths);
  auto room = [](std::string &text, int length) { text.resize(static_cast<std::size_t>(length) + 1); };
  /* The class may have been unloaded since its lengths were asked for. */
  auto cut = [](std::string &text, int length) { text.resize(static_cast<std::size_t>(length)); };
  room(names.name, lengths.method_name_length);
  room(names.signature, lengths.signature_length);
  ASGST_MethodInfo info{};
  info.method_name = &names.name[0];
  info.method_name_length = static_cast<int>(names.name.size());
  info.signature = &names.signature[0];
  info.signature_length = static_cast<int>(names.signature.size());
  ASGST_GetMethodInfo(method, &info);
  cut(names.name, info.method_name_length);
  cut(names.signature, info.signature_length);
  ASGST_ClassInfo length{};
  ASGST_GetClassInfo(info.klass, &length);
  room(names.class_name, length.class_name_length);
  ASGST_ClassInfo class_info{};
  class_info.class_name = &names.class_name[0];
  class_info.class_name_length = static_cast<int>(names.class_name.size());
  ASGST_GetClassInfo(info.klass, &class_info);
  cut(names.class_name, class_info.class_name_length);
  for (char &c : names.class_name)
    if (c == '/') c = '.';
  return names;
}

/*
 * A safepoint queue of the thread that makes it. Handler is called as handler(Frames, void *argument) for each
 * element, and may allocate and lock. The destructor runs on the same thread, and hands the waiting elements to
 * the handler first. The address of a queue is its identity: it can be neither copied nor moved.
 */
template <typename Handler>
class Queue {
 public:
  Queue(JNIEnv *env, int size, Handler handler, int options = 0)
      : env_(env),
        handler_(std::move(handler)),
        queue_(ASGST_RegisterQueue(env, size, options, process, this)) {}
  ~Queue() {
    if (queue_ != nullptr) ASGST_DeregisterQueue(env_, queue_);
  }
  Queue(const Queue &) = delete;
  Queue &operator=(const Queue &) = delete;

  /* Whether the queue could be made. */
  explicit operator bool() const noexcept { return queue_ != nullptr; }
  /* Of the thread of the queue, in a signal handler. Async-signal-safe. */
  Result enqueue(void *ucontext, void *argument = nullptr) noexcept {
    return Result(ASGST_Enqueue(queue_, ucontext, argument));
  }
  ASGST_QueueSizeInfo size() const noexcept { return ASGST_GetQueueSizeInfo(queue_); }
  void resize(int size) noexcept { ASGST_ResizeQueue(queue_, size); }
  ASGST_Queue *get() const noexcept { return queue_; }

 private:
  static void process(ASGST_Iterator *iterator, void *self, void *argument) noexcept {
    static_cast<Queue *>(self)->handler_(Frames(iterator), argument);
  }

  JNIEnv *env_;
  Handler handler_;
  ASGST_Queue *queue_;
};

template <typename Handler>
Queue(JNIEnv *, int, Handler) -> Queue<Handler>;

}  // namespace asgst

#if defined(__cpp_lib_ranges)
#include <ranges>
static_assert(std::ranges::input_range<asgst::Frames>, "for C++20");
#endif
#endif
