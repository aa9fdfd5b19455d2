// Walkers as a profiler's author writes them: one that is right, one that cuts a stack now and then, and one that never
// answers.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

typedef struct {
  int lineno;
  void *method_id;
} ASGCT_CallFrame;

typedef struct {
  void *env_id;
  int num_frames;
  ASGCT_CallFrame *frames;
} ASGCT_CallTrace;

typedef struct {
  int num_frames;
  uint8_t kind;
  void *frames;
  void *frame_info;
} ASGST_CallTrace;

static void (*call_trace)(ASGCT_CallTrace *, int, void *);

// dlsym takes locks, so it is not called in the signal handler.
__attribute__((constructor)) static void find(void) {
  void *jvm = dlopen("libjvm.so", RTLD_LAZY | RTLD_NOLOAD);
  if (jvm) *(void **)&call_trace = dlsym(jvm, "AsyncGetCallTrace");
}

void right(ASGCT_CallTrace *trace, int depth, void *context) { call_trace(trace, depth, context); }

void cutting(ASGCT_CallTrace *trace, int depth, void *context) {
  static unsigned calls;
  call_trace(trace, depth, context);
  if (trace->num_frames > 3 && __sync_fetch_and_add(&calls, 1) % 10 == 0) trace->num_frames -= 2;
}

void silent(ASGST_CallTrace *trace, int depth, void *context, uint32_t options) {
  (void)depth, (void)context, (void)options;
  trace->num_frames = -3;
}
