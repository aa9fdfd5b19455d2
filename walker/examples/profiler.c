/*
 * A small profiler on the frame iterator, for stock JDKs: at an interval it samples a random subset of the
 * threads, or the threads that use CPU time. At the end it prints the failed ratio and a method table, and writes a flame graph.
 *
 * ASGST is the folder of the unpacked archive of libasgst. Compile, and profile a program from its start:
 *
 *   cc -O2 -shared -fPIC -o libprofiler.so profiler.c -I$ASGST/include -I$JAVA_HOME/include \
 *     -I$JAVA_HOME/include/linux -L$ASGST/lib -Wl,-rpath,$ASGST/lib -lasgst
 *   $JAVA_HOME/bin/java -agentpath:$PWD/libprofiler.so=interval=10ms,output=flames.html $PROGRAM
 *
 * Or attach to a program that runs, and detach from it again:
 *
 *   $JAVA_HOME/bin/jcmd $PID JVMTI.agent_load $PWD/libprofiler.so '"interval=10ms,output=attached.html"'
 *   $JAVA_HOME/bin/jcmd $PID JVMTI.agent_load $PWD/libprofiler.so stop
 *
 * jcmd takes options with a "=" only in quotes of its own. The results go to the output of the program.
 *
 * Options, separated by commas:
 *   interval=10ms     time between two rounds of samples: 10ms, 0.01s, 500us; a bare number is in milliseconds
 *   output=FILE       where the flame graph goes, an HTML page; without it there is none
 *   threads=running   samples only threads that run or want to; else all threads
 *   time=cpu          samples whichever thread runs, each time the program has used the interval of CPU time
 *   by=thread         the flame graph has a stack of its own for each name of a thread
 *   rows=20           rows of the method table; 0 for no table
 *   stop              when attached: stops sampling and gives the results
 */
#define _GNU_SOURCE
#include "profile2.h"
#include <dirent.h>
#include <jvmti.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define MOST_DEPTH 512
#define MOST_SAMPLED 8
#define MOST_THREADS 10000
#define MOST_WAITING 64

typedef struct {
  atomic_int round; /* which round it is for; 0 when the handler has filled it in */
  int count;        /* of frames, or an error */
  ASGST_Frame frames[MOST_DEPTH];
} Trace;

/* A sample of CPU time: free, in the hands of a handler, or waiting to be processed. */
enum { FREE, FILLING, WAITING };

typedef struct {
  atomic_int state;
  pid_t thread;
  Trace trace;
} CpuSample;

typedef struct Node {
  char *name;
  long samples, on_top;
  struct Node *children, *next;
} Node;

static jvmtiEnv *jvmti;
static long interval_nanos = 10000000;
static char flames[256];
static long table_rows = 20;
static bool only_running, by_cpu_time, by_thread;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pid_t threads[MOST_THREADS];
static int thread_count;
static Trace traces[MOST_SAMPLED];
static CpuSample cpu_samples[MOST_WAITING];
static atomic_long lost_samples;
static pthread_t sampler;
static atomic_bool stopping;
static long total_traces, failed_traces;
static Node tree = {.name = "all"}, methods;

/* ---- Threads ---- */

static void forget_thread(pid_t id) {
  pthread_mutex_lock(&lock);
  for (int i = 0; i < thread_count; i++)
    if (threads[i] == id) threads[i--] = threads[--thread_count];
  pthread_mutex_unlock(&lock);
}

static void add_thread(pid_t id) {
  forget_thread(id);
  pthread_mutex_lock(&lock);
  if (thread_count < MOST_THREADS) threads[thread_count++] = id;
  pthread_mutex_unlock(&lock);
}

/* Threads that started before the profiler. Those without Java code are forgotten at their first sample. */
static void add_all_threads(void) {
  DIR *tasks = opendir("/proc/self/task");
  if (tasks == NULL) return;
  for (struct dirent *task; (task = readdir(tasks));)
    if (atoi(task->d_name) > 0) add_thread(atoi(task->d_name));
  closedir(tasks);
}

/* Whether a thread runs, or waits for a processor only (proc(5), /proc/pid/stat: the state is behind the name). */
static bool is_running(pid_t id) {
  char path[64], text[512];
  snprintf(path, sizeof path, "/proc/self/task/%d/stat", id);
  FILE *file = fopen(path, "r");
  if (file == NULL) return false;
  size_t length = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  text[length] = 0;
  const char *name_end = strrchr(text, ')');
  return name_end && strncmp(name_end, ") R", 3) == 0;
}

static void JNICALL on_thread_start(jvmtiEnv *j, JNIEnv *env, jthread thread) {
  (void)j, (void)env, (void)thread;
  add_thread((pid_t)syscall(SYS_gettid));
}

static void JNICALL on_thread_end(jvmtiEnv *j, JNIEnv *env, jthread thread) {
  (void)j, (void)env, (void)thread;
  forget_thread((pid_t)syscall(SYS_gettid));
}

/* ---- In the signal handler ---- */

static void store(ASGST_Iterator *iterator, void *argument) {
  Trace *trace = argument;
  int result = 1;
  trace->count = 0;
  while (trace->count < MOST_DEPTH &&
         (result = ASGST_NextFrame(iterator, &trace->frames[trace->count])) == 1)
    trace->count++;
  if (result < 0) trace->count = result;
}

static void walk(Trace *trace, void *context) {
  int kind = ASGST_RunWithIterator(context, 0, store, trace);
  if (kind <= 0) trace->count = kind; /* no Java trace */
}

/* The kernel sends the signal of the timer to the thread that runs. */
static void on_timer(void *context) {
  for (int i = 0; i < MOST_WAITING; i++) {
    CpuSample *sample = &cpu_samples[i];
    int expected = FREE;
    if (!atomic_compare_exchange_strong(&sample->state, &expected, FILLING)) continue;
    sample->thread = (pid_t)syscall(SYS_gettid);
    walk(&sample->trace, context);
    sample->state = WAITING;
    return;
  }
  lost_samples++;
}

static void on_signal(int signal, siginfo_t *info, void *context) {
  (void)signal;
  if (by_cpu_time) {
    on_timer(context);
    return;
  }
  int slot = info->si_value.sival_int % MOST_SAMPLED;
  int round = info->si_value.sival_int / MOST_SAMPLED;
  Trace *trace = &traces[slot];
  /* A signal of an earlier round may come late. */
  if (info->si_code != SI_QUEUE || trace->round != round) return;
  walk(trace, context);
  trace->round = 0;
}

/* ---- The sampling loop ---- */

static Node *child(Node *parent, const char *name) {
  Node *node = parent->children;
  while (node && strcmp(node->name, name)) node = node->next;
  if (node == NULL) {
    node = calloc(1, sizeof *node);
    node->name = strdup(name);
    node->next = parent->children;
    parent->children = node;
  }
  return node;
}

static void name_of(const ASGST_Frame *frame, char *name, size_t size) {
  char method[128] = "", class[256] = "";
  ASGST_MethodInfo info = {.method_name = method, .method_name_length = sizeof method};
  ASGST_GetMethodInfo(frame->method, &info);
  ASGST_ClassInfo class_info = {.class_name = class, .class_name_length = sizeof class};
  ASGST_GetClassInfo(info.klass, &class_info);
  for (char *c = class; *c; c++)
    if (*c == '/') *c = '.';
  /* Where the compiler recorded nothing, inlined methods are missing above this frame. */
  int is_flagged = frame->flags & ASGST_FRAME_MAY_MISS_INLINED;
  if (info.klass == NULL) snprintf(name, size, "(a method of a class that was unloaded)");
  else snprintf(name, size, "%s.%s%s", class, method, is_flagged ? " (or inlined there)" : "");
}

/* The name that the kernel has of a thread: the first 15 characters of the one that Java has. */
static void name_of_thread(pid_t id, char *name, size_t size) {
  char path[64];
  snprintf(path, sizeof path, "/proc/self/task/%d/comm", id);
  FILE *file = fopen(path, "r");
  if (file == NULL || fgets(name, (int)size, file) == NULL) snprintf(name, size, "(a thread that has ended)");
  if (file) fclose(file);
  name[strcspn(name, "\n")] = 0;
}

static void process(const Trace *trace, pid_t thread) {
  /* A thread that runs no Java code is no failure. */
  if (trace->count == ASGST_NO_TOP_JAVA_FRAME || trace->count == ASGST_NO_THREAD) return;
  total_traces++;
  if (trace->count <= 0) {
    failed_traces++;
    return;
  }
  Node *node = &tree;
  if (by_thread) {
    char name[64];
    name_of_thread(thread, name, sizeof name);
    node->samples++;
    node = child(node, name);
  }
  for (int i = trace->count - 1; i >= 0; i--) {
    char name[512];
    name_of(&trace->frames[i], name, sizeof name);
    node->samples++;
    node = child(node, name);
    Node *row = child(&methods, name);
    row->samples++;
    row->on_top += i == 0;
  }
  node->samples++;
  node->on_top++;
}

static void pause_nanos(long nanos) {
  struct timespec time = {nanos / 1000000000, nanos % 1000000000};
  nanosleep(&time, NULL);
}

static void sample(int round) {
  pid_t chosen[MOST_SAMPLED];
  int count = 0;
  pthread_mutex_lock(&lock);
  /* A random subset: the first ones of a shuffled list. */
  for (int i = 0; i < thread_count && count < MOST_SAMPLED; i++) {
    int other = i + rand() % (thread_count - i);
    pid_t id = threads[other];
    threads[other] = threads[i];
    threads[i] = id;
    if (!only_running || is_running(id)) chosen[count++] = id;
  }
  pthread_mutex_unlock(&lock);
  for (int i = 0; i < count; i++) {
    traces[i].count = ASGST_UNSAFE_STATE;
    traces[i].round = round;
    siginfo_t info = {.si_code = SI_QUEUE};
    info.si_value.sival_int = round * MOST_SAMPLED + i;
    if (syscall(SYS_rt_tgsigqueueinfo, getpid(), chosen[i], SIGPROF, &info) == 0) continue;
    traces[i].count = ASGST_NO_THREAD; /* it has ended */
    traces[i].round = 0;
  }
  for (int i = 0; i < count; i++) {
    /* A thread may end before its signal comes. */
    for (int wait = 0; wait < 1000 && traces[i].round == round; wait++) pause_nanos(20000);
    int expected = round;
    if (atomic_compare_exchange_strong(&traces[i].round, &expected, 0)) continue;
    if (traces[i].count == ASGST_NO_THREAD) forget_thread(chosen[i]);
    else process(&traces[i], chosen[i]);
  }
}

static void process_cpu_samples(void) {
  for (int i = 0; i < MOST_WAITING; i++) {
    CpuSample *sample = &cpu_samples[i];
    if (sample->state != WAITING) continue;
    process(&sample->trace, sample->thread);
    sample->state = FREE;
  }
}

/* Lets the timer run, or stops it with 0. */
static void set_timer(long nanos) {
  struct timeval time = {nanos / 1000000000, nanos % 1000000000 / 1000};
  struct itimerval timer = {time, time};
  setitimer(ITIMER_PROF, &timer, NULL);
}

static void *sampling_loop(void *argument) {
  (void)argument;
  for (int round = 1; !stopping; round = round % 1000000 + 1) {
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    if (by_cpu_time) process_cpu_samples();
    else sample(round);
    clock_gettime(CLOCK_MONOTONIC, &end);
    long taken = (end.tv_sec - start.tv_sec) * 1000000000L + end.tv_nsec - start.tv_nsec;
    if (taken < interval_nanos) pause_nanos(interval_nanos - taken);
  }
  return NULL;
}

/* ---- Results ---- */

static int by_samples(const void *a, const void *b) {
  long x = (*(Node *const *)a)->samples, y = (*(Node *const *)b)->samples;
  return (x < y) - (x > y);
}

static void print_table(void) {
  size_t count = 0;
  for (Node *row = methods.children; row; row = row->next) count++;
  Node **rows = calloc(count + 1, sizeof *rows);
  size_t at = 0;
  for (Node *row = methods.children; row; row = row->next) rows[at++] = row;
  qsort(rows, count, sizeof *rows, by_samples);
  long good = total_traces - failed_traces;
  printf("===== method table ======\nTotal samples: %ld\n", good);
  printf("%-80s %9s %10s %9s %10s\n", "Method", "Samples", "Percentage", "On top", "Percentage");
  for (size_t i = 0; i < count && i < (size_t)table_rows; i++)
    printf("%-80s %9ld %10.2f %9ld %10.2f\n", rows[i]->name, rows[i]->samples,
           100.0 * (double)rows[i]->samples / (double)good, rows[i]->on_top,
           100.0 * (double)rows[i]->on_top / (double)good);
  free(rows);
}

static void write_node(FILE *out, const Node *node) {
  fprintf(out, "{\"name\":\"");
  /* A name may have any character but . ; [ and / (JVMS 4.2.2). */
  for (const char *c = node->name; *c; c++) fprintf(out, strchr("\"\\<", *c) ? "\\u%04x" : "%c", *c);
  fprintf(out, "\",\"value\":%ld,\"children\":[", node->samples);
  for (const Node *c = node->children; c; c = c->next) {
    write_node(out, c);
    if (c->next) fputc(',', out);
  }
  fprintf(out, "]}");
}

static void write_flames(void) {
  FILE *out = fopen(flames, "w");
  if (out == NULL) return;
  fprintf(out, "<!doctype html><meta charset=utf-8><title>Flame graph</title><style>div{position:absolute;"
               "height:16px;overflow:hidden;font:11px sans-serif;white-space:nowrap;border:1px solid #fff;"
               "background:#f96;box-sizing:border-box}</style><body><script>const root=");
  write_node(out, &tree);
  fprintf(out, ";function draw(n,x,w,y){const d=document.createElement('div');d.textContent=n.name;"
               "d.title=n.name+': '+n.value;d.style.cssText+=`left:${x}%%;width:${w}%%;top:${y*16}px`;"
               "document.body.append(d);for(const c of n.children){const cw=w*c.value/n.value;"
               "if(cw>0.1)draw(c,x,cw,y+1);x+=cw}}draw(root,0,100,0)</script>\n");
  fclose(out);
}

/* ---- The agent ---- */

static bool start(JNIEnv *env) {
  if (ASGST_Initialize(env) != 0) {
    fprintf(stderr, "profiler: this JVM cannot be walked\n");
    return false;
  }
  add_all_threads();
  struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
  sigaction(SIGPROF, &action, NULL);
  stopping = false;
  if (by_cpu_time) set_timer(interval_nanos);
  return pthread_create(&sampler, NULL, sampling_loop, NULL) == 0;
}

static void stop(void) {
  if (sampler == 0) return;
  stopping = true;
  pthread_join(sampler, NULL);
  sampler = 0;
  if (by_cpu_time) {
    set_timer(0);
    process_cpu_samples();
    if (lost_samples) printf("Lost samples:  %10ld\n", (long)lost_samples);
  }
  printf("Failed traces: %10ld\nTotal traces:  %10ld\nFailed ratio:  %9.2f%%\n", failed_traces, total_traces,
         total_traces ? 100.0 * (double)failed_traces / (double)total_traces : 0.0);
  if (table_rows > 0) print_table();
  if (*flames) write_flames();
  fflush(stdout);
}

static void JNICALL on_vm_init(jvmtiEnv *j, JNIEnv *env, jthread thread) {
  (void)j, (void)thread;
  start(env);
}

static void JNICALL on_vm_death(jvmtiEnv *j, JNIEnv *env) {
  (void)j, (void)env;
  stop();
}

static bool read_interval(const char *text) {
  char unit[4] = "ms", end;
  double value;
  int parts = sscanf(text, "%lf%3[a-z]%c", &value, unit, &end);
  double factor = !strcmp(unit, "s") ? 1e9 : !strcmp(unit, "ms") ? 1e6 : !strcmp(unit, "us") ? 1e3 : 0;
  interval_nanos = (long)(value * factor);
  return (parts == 1 || parts == 2) && interval_nanos > 0;
}

/* Reads one option; false if there is none like it. */
static bool read_option(const char *option) {
  char text[32], end;
  if (sscanf(option, "output=%255s", flames) == 1) return true;
  if (sscanf(option, "interval=%31s", text) == 1) return read_interval(text);
  if (sscanf(option, "rows=%ld%c", &table_rows, &end) == 1) return table_rows >= 0;
  if (!strcmp(option, "threads=running")) return only_running = true;
  if (!strcmp(option, "time=cpu")) return by_cpu_time = true;
  if (!strcmp(option, "by=thread")) return by_thread = true;
  return !strcmp(option, "threads=all");
}

static bool read_options(char *options) {
  for (char *o = options ? strtok(options, ",") : NULL; o; o = strtok(NULL, ",")) {
    if (read_option(o)) continue;
    fprintf(stderr,
            "profiler: unknown option %s; there are interval=10ms, output=FILE, threads=running, time=cpu, by=thread "
            "and rows=20\n",
            o);
    return false;
  }
  return true;
}

/* Makes the environment of JVMTI, in which the events are. */
static bool listen(JavaVM *vm) {
  if ((*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_11) != JNI_OK) return false;
  jvmtiEventCallbacks callbacks = {.VMInit = on_vm_init,
                                   .VMDeath = on_vm_death,
                                   .ThreadStart = on_thread_start,
                                   .ThreadEnd = on_thread_end};
  (*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof callbacks);
  jvmtiEvent events[] = {JVMTI_EVENT_VM_INIT, JVMTI_EVENT_VM_DEATH, JVMTI_EVENT_THREAD_START,
                         JVMTI_EVENT_THREAD_END};
  for (size_t i = 0; i < sizeof events / sizeof *events; i++)
    (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, events[i], NULL);
  return true;
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved) {
  (void)reserved;
  return read_options(options) && listen(vm) ? JNI_OK : JNI_ERR;
}

JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *vm, char *options, void *reserved) {
  (void)reserved;
  JNIEnv *env;
  if (options && !strcmp(options, "stop")) {
    stop();
    return JNI_OK;
  }
  if (sampler || !read_options(options)) return JNI_ERR;
  if ((*vm)->GetEnv(vm, (void **)&env, JNI_VERSION_10) != JNI_OK) return JNI_ERR;
  return (jvmti || listen(vm)) && start(env) ? JNI_OK : JNI_ERR;
}
