// A profiler: a timer for each Java thread, AsyncGetCallTrace in the handler, and a JFR file at the end. Its
// options are `period_us=N`, `one_in=N`, `fault=NAME` and `file=PATH`. One stack in N then has a fault, and N = 0 makes none.
#include <jvmti.h>
#include <dlfcn.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { DEEPEST = 2048, MOST = 1 << 20 };
#define ARENA ((size_t)1 << 30)

typedef struct { jint bci; jmethodID method; } CallFrame;
typedef struct { JNIEnv *env; jint count; CallFrame *frames; } CallTrace;
typedef struct { int64_t time; int tid, count; CallFrame *frames; } Sample;

static void (*walk)(CallTrace *, jint, void *);
static jvmtiEnv *jvmti;
static char path[4096], fault[16];
static unsigned one_in, period_us = 10000;
static Sample *samples;
static char *arena;
static atomic_size_t used;
static atomic_uint taken;
static atomic_int is_on = 1;
// No dynamic TLS: its first use in a handler would allocate.
static __thread __attribute__((tls_model("initial-exec"))) JNIEnv *own;
static __thread __attribute__((tls_model("initial-exec"))) timer_t timer;

static int is(const char *name) { return strcmp(fault, name) == 0; }

// Makes a mistake in the middle of the stack. Returns how many frames are left.
static int spoil(CallFrame *frames, int count) {
  int middle = count / 2;
  if (is("cut")) return middle;
  if (is("drop")) memmove(frames + middle, frames + middle + 1, (count - middle - 1) * sizeof *frames);
  if (is("drop")) return count - 1;
  CallFrame kept = frames[middle];
  if (is("swap")) frames[middle] = frames[middle - 1], frames[middle - 1] = kept;
  // In the code, but where no call is.
  if (is("bci")) frames[middle].bci = 0;
  return count;
}

static void handler(int signal, siginfo_t *info, void *context) {
  (void)signal, (void)info;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (!own || !is_on) return;
  size_t at = atomic_fetch_add(&used, DEEPEST * sizeof(CallFrame));
  if (at + DEEPEST * sizeof(CallFrame) > ARENA) return;
  CallTrace trace = {own, 0, (CallFrame *)(arena + at)};
  walk(&trace, DEEPEST, context);
  unsigned number = trace.count > 0 ? atomic_fetch_add(&taken, 1) : MOST;
  if (number >= MOST) return;
  // The least frames at which every fault changes the stack.
  if (one_in && trace.count >= 4 && number % one_in == 0) trace.count = spoil(trace.frames, trace.count);
  samples[number] = (Sample){now.tv_sec * 1000000000L + now.tv_nsec, (int)syscall(SYS_gettid), trace.count, trace.frames};
  // The rest of the place is free again, unless another handler has taken the next.
  size_t end = at + DEEPEST * sizeof(CallFrame);
  atomic_compare_exchange_strong(&used, &end, at + (size_t)trace.count * sizeof(CallFrame));
}

// The file: events of variable length, whose numbers have seven bits a byte.
static char *out;
static size_t length, room;

static void bytes(const void *from, size_t count) {
  while (length + count > room) out = realloc(out, room = 2 * room + count);
  memcpy(out + length, from, count);
  length += count;
}
static void number(uint64_t n) {
  for (; n >= 0x80; n >>= 7) bytes(&(char){(char)(n | 0x80)}, 1);
  bytes(&(char){(char)n}, 1);
}
static void text(const char *it) {
  bytes("\3", 1);
  number(strlen(it));
  bytes(it, strlen(it));
}
// The size of an event comes first, in five bytes.
static size_t begin(uint64_t type) {
  size_t start = length;
  bytes("\0\0\0\0\0", 5);
  number(type);
  return start;
}
static void end(size_t start) {
  uint64_t size = length - start;
  for (int i = 0; i < 5; i++, size >>= 7) out[start + i] = (char)((size & 0x7f) | (i < 4 ? 0x80 : 0));
}

enum { LONG = 1, BOOLEAN, STRING, SYMBOL = 10, CLASS, METHOD, FRAME_TYPE, FRAME, STACK, THREAD, SAMPLE = 20 };
typedef struct { const char *name, *of, *constant, *dimension; } Field;
typedef struct { const char *id, *name; Field fields[6]; } Type;
static const Type TYPES[] = {
    {"1", "long", {{0}}},
    {"2", "boolean", {{0}}},
    {"3", "java.lang.String", {{0}}},
    {"10", "jdk.types.Symbol", {{"string", "3", "false", "0"}}},
    {"11", "java.lang.Class", {{"name", "10", "true", "0"}}},
    {"12", "jdk.types.Method", {{"type", "11", "true", "0"}, {"name", "10", "true", "0"}, {"descriptor", "10", "true", "0"}}},
    {"13", "jdk.types.FrameType", {{"description", "3", "false", "0"}}},
    {"14", "jdk.types.StackFrame", {{"method", "12", "true", "0"}, {"lineNumber", "1", "false", "0"},
                                    {"bytecodeIndex", "1", "false", "0"}, {"type", "13", "true", "0"}}},
    {"15", "jdk.types.StackTrace", {{"truncated", "2", "false", "0"}, {"frames", "14", "false", "1"}}},
    {"16", "java.lang.Thread", {{"osThreadId", "1", "false", "0"}, {"javaThreadId", "1", "false", "0"}}},
    {"20", "jdk.ExecutionSample", {{"startTime", "1", "false", "0"}, {"sampledThread", "16", "true", "0"},
                                   {"stackTrace", "15", "true", "0"}}},
};
enum { KINDS = sizeof TYPES / sizeof *TYPES };

static const char *strings[256];
static unsigned known;

static unsigned place(const char *string) {
  for (unsigned i = 0; i < known; i++) if (!strcmp(strings[i], string)) return i;
  strings[known] = string;
  return known++;
}
static void attribute(const char *name, const char *value) {
  number(place(name));
  number(place(value));
}
static void tree(void) {
  number(place("root"));
  number(0);
  number(KINDS);
  for (const Type *type = TYPES; type < TYPES + KINDS; type++) {
    number(place("class"));
    number(2);
    attribute("id", type->id);
    attribute("name", type->name);
    unsigned fields = 0;
    while (type->fields[fields].name) fields++;
    number(fields);
    for (const Field *field = type->fields; field < type->fields + fields; field++) {
      number(place("field"));
      number(4);
      attribute("name", field->name);
      attribute("class", field->of);
      attribute("constantPool", field->constant);
      attribute("dimension", field->dimension);
      number(0);
    }
  }
}
static size_t metadata(void) {
  size_t before = length;
  tree();
  // The strings are known now: the event begins anew, with them in front of the tree.
  length = before;
  size_t start = begin(0);
  for (int i = 0; i < 3; i++) number(0);
  number(known);
  for (unsigned i = 0; i < known; i++) text(strings[i]);
  tree();
  end(start);
  return start;
}

// The methods of all samples, each once: a table with open addresses.
enum { SLOTS = 1 << 20 };
static jmethodID *slots;
static uint32_t *numbers, methods;

static uint32_t method(jmethodID id) {
  size_t at = ((uintptr_t)id * 0x9E3779B97F4A7C15ull) >> 44;
  for (; slots[at]; at = (at + 1) % SLOTS) if (slots[at] == id) return numbers[at];
  slots[at] = id;
  return numbers[at] = ++methods;
}

static void names(jmethodID id, uint32_t at) {
  char *class = NULL, *name = NULL, *descriptor = NULL;
  jclass of;
  if ((*jvmti)->GetMethodDeclaringClass(jvmti, id, &of) || (*jvmti)->GetClassSignature(jvmti, of, &class, NULL) ||
      (*jvmti)->GetMethodName(jvmti, id, &name, &descriptor, NULL)) {
    class = "Lgone;", name = "gone", descriptor = "()V";
  }
  // `Lpackage/Class;`
  char inner[4096];
  snprintf(inner, sizeof inner, "%.*s", (int)strlen(class) - 2, class + 1);
  const char *all[] = {inner, name, descriptor};
  for (int i = 0; i < 3; i++) {
    number(3 * at + i);
    text(all[i]);
  }
}

static void write_file(void) {
  unsigned count = taken < MOST ? taken : MOST;
  slots = calloc(SLOTS, sizeof *slots);
  numbers = calloc(SLOTS, sizeof *numbers);
  bytes(path, 68);  // The header is written at the end.
  size_t checkpoint = begin(1);
  for (int i = 0; i < 3; i++) number(0);
  bytes("\0", 1);
  number(6);
  number(STACK);
  number(count);
  for (unsigned i = 0; i < count; i++) {
    number(i + 1);
    bytes("\0", 1);
    number(samples[i].count);
    for (CallFrame *frame = samples[i].frames; frame < samples[i].frames + samples[i].count; frame++) {
      number(method(frame->method));
      number(0);
      number(frame->bci < 0 ? 0 : frame->bci);
      number(frame->bci == -3 ? 2 : 1);
    }
  }
  number(SYMBOL);
  number(3 * methods);
  for (size_t at = 0; at < SLOTS; at++) if (slots[at]) names(slots[at], numbers[at]);
  number(CLASS);
  number(methods);
  for (uint32_t at = 1; at <= methods; at++) number(at), number(3 * at);
  number(METHOD);
  number(methods);
  for (uint32_t at = 1; at <= methods; at++) number(at), number(at), number(3 * at + 1), number(3 * at + 2);
  number(FRAME_TYPE);
  number(2);
  number(1), text("Interpreted");
  number(2), text("Native");
  number(THREAD);
  number(count);
  for (unsigned i = 0; i < count; i++) number(i + 1), number(samples[i].tid), number(0);
  end(checkpoint);
  for (unsigned i = 0; i < count; i++) {
    size_t start = begin(SAMPLE);
    number(samples[i].time);
    number(i + 1);
    number(i + 1);
    end(start);
  }
  uint64_t types = metadata();
  uint64_t header[] = {length, 68, types, 0, 0, 0, 1000000000};
  memcpy(out, "FLR\0\0\2\0\0", 8);
  for (int i = 0; i < 7; i++) for (int byte = 0; byte < 8; byte++) out[8 + 8 * i + byte] = (char)(header[i] >> (56 - 8 * byte));
  memcpy(out + 64, "\0\0\0\1", 4);
  FILE *file = fopen(path, "w");
  if (!file || fwrite(out, 1, length, file) != length || fclose(file)) perror(path);
}

static void JNICALL thread_start(jvmtiEnv *env, JNIEnv *jni, jthread thread) {
  (void)env, (void)thread;
  struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGPROF};
  event._sigev_un._tid = (int)syscall(SYS_gettid);
  // A timer of CPU time fires with the clock of the kernel, four times more rarely.
  struct timespec each = {period_us / 1000000, period_us % 1000000 * 1000};
  struct itimerspec period = {each, each};
  if (own || timer_create(CLOCK_MONOTONIC, &event, &timer)) return;
  own = jni;
  timer_settime(timer, 0, &period, NULL);
}
static void JNICALL thread_end(jvmtiEnv *env, JNIEnv *jni, jthread thread) {
  (void)env, (void)jni, (void)thread;
  if (own) timer_delete(timer);
  own = NULL;
}
// AsyncGetCallTrace names methods that have an id.
static void JNICALL class_load(jvmtiEnv *env, JNIEnv *jni, jthread thread, jclass class) {
  (void)env, (void)jni, (void)thread, (void)class;
}
static void JNICALL class_prepare(jvmtiEnv *env, JNIEnv *jni, jthread thread, jclass class) {
  (void)jni, (void)thread;
  jint count;
  jmethodID *ids;
  if (!(*env)->GetClassMethods(env, class, &count, &ids)) (*env)->Deallocate(env, (unsigned char *)ids);
}
static void JNICALL vm_init(jvmtiEnv *env, JNIEnv *jni, jthread thread) {
  jint count;
  jclass *classes;
  if (!(*env)->GetLoadedClasses(env, &count, &classes)) {
    for (jint i = 0; i < count; i++) class_prepare(env, jni, thread, classes[i]);
    (*env)->Deallocate(env, (unsigned char *)classes);
  }
  thread_start(env, jni, thread);
}
static void JNICALL vm_death(jvmtiEnv *env, JNIEnv *jni) {
  (void)env, (void)jni;
  is_on = 0;
  usleep(20 * 1000);  // Handlers that run now end.
  write_file();
}

static int read_options(char *options) {
  for (char *option = strtok(options, ","); option; option = strtok(NULL, ",")) {
    if (sscanf(option, "period_us=%u", &period_us) + sscanf(option, "one_in=%u", &one_in) + sscanf(option, "fault=%15s", fault) + sscanf(option, "file=%4095s", path) < 1)
      return fprintf(stderr, "unknown option %s\n", option), 1;
  }
  return path[0] ? 0 : (fprintf(stderr, "file=PATH is missing\n"), 1);
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved) {
  (void)reserved;
  walk = (void (*)(CallTrace *, jint, void *))dlsym(RTLD_DEFAULT, "AsyncGetCallTrace");
  int prot = PROT_READ | PROT_WRITE, flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  arena = mmap(NULL, ARENA, prot, flags, -1, 0);
  samples = mmap(NULL, MOST * sizeof *samples, prot, flags, -1, 0);
  if (read_options(options) || !walk || arena == MAP_FAILED || samples == MAP_FAILED) return 1;
  if ((*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_11)) return 1;
  jvmtiEventCallbacks callbacks = {.VMInit = vm_init, .VMDeath = vm_death, .ThreadStart = thread_start,
                                   .ThreadEnd = thread_end, .ClassLoad = class_load, .ClassPrepare = class_prepare};
  (*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof callbacks);
  jvmtiEvent events[] = {JVMTI_EVENT_VM_INIT, JVMTI_EVENT_VM_DEATH, JVMTI_EVENT_THREAD_START, JVMTI_EVENT_THREAD_END,
                         JVMTI_EVENT_CLASS_LOAD, JVMTI_EVENT_CLASS_PREPARE};
  for (size_t i = 0; i < sizeof events / sizeof *events; i++)
    (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, events[i], NULL);
  struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_RESTART};
  sigemptyset(&action.sa_mask);
  return sigaction(SIGPROF, &action, NULL);
}
