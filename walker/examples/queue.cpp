/*
 * A profiler on the safepoint queue, in C++17: the signal handler only enqueues, and the stacks are walked, named
 * and added to a tree where locks and allocation are allowed.
 *
 * ASGST is the folder of the unpacked archive of libasgst. Compile and run:
 *
 *   c++ -std=c++17 -O2 -shared -fPIC -o libqueue.so queue.cpp -I$ASGST/include -I$JAVA_HOME/include \
 *     -I$JAVA_HOME/include/linux -L$ASGST/lib -Wl,-rpath,$ASGST/lib -lasgst
 *   $JAVA_HOME/bin/java -agentpath:$PWD/libqueue.so=10 $PROGRAM
 *
 * The option is the interval in milliseconds. At the end of the JVM the profiler prints stacks and how many samples
 * each has, in the format of flame graph programs ("bottom;...;top 12").
 */
#include "asgst.hpp"

#include <jvmti.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace {

constexpr int capacity = 64;

std::mutex lock;
std::map<std::string, long> stacks;
std::unordered_map<ASGST_Method, std::string> names;
std::map<pid_t, bool> threads;
std::atomic<long> enqueued, failed, counted, incomplete;
std::atomic<bool> stopping;
std::thread sampler;
std::chrono::milliseconds interval{10};

/* Counts one sample. Runs on a thread of the library, or on the thread of the queue when that ends. */
struct Count {
  void operator()(asgst::Frames frames, void *) const {
    std::vector<ASGST_Method> methods;
    for (const asgst::Frame &frame : frames)
      if (asgst::is_of_method(frame)) methods.push_back(frame.method);
    std::lock_guard<std::mutex> guard(lock);
    /* The thread has returned to frames below since: the top is right, and the callers are gone. */
    std::string stack = "all";
    if (frames.error() != ASGST_NO_FRAME) {
      incomplete++;
      stack += ";(callers are gone)";
    }
    for (auto method = methods.rbegin(); method != methods.rend(); ++method) {
      auto [name, is_new] = names.try_emplace(*method);
      if (is_new) name->second = asgst::name_of(*method).full();
      stack += ';' + name->second;
    }
    stacks[stack]++;
    counted++;
  }
};

using Queue = asgst::Queue<Count>;

/*
 * The queue of the thread, for the handler. Handlers may touch only thread-local storage at a fixed offset: access to
 * any other may call malloc.
 */
__attribute__((tls_model("initial-exec"))) thread_local Queue *queue = nullptr;

pid_t own_id() { return static_cast<pid_t>(syscall(SYS_gettid)); }

/* Each thread registers its own queue when it starts. */
void enter(JNIEnv *env) {
  auto made = std::make_unique<Queue>(env, capacity, Count{});
  if (!*made) return;
  queue = made.release();
  std::lock_guard<std::mutex> guard(lock);
  threads[own_id()] = true;
}

/* Each thread removes its queue before it ends, after the last signal that may use it. */
void leave() {
  {
    std::lock_guard<std::mutex> guard(lock);
    threads.erase(own_id());
  }
  delete std::exchange(queue, nullptr);
}

void on_signal(int, siginfo_t *, void *context) {
  if (queue == nullptr) return;
  /* Before the sample can be counted: the thread of the library may be faster than this handler. */
  enqueued++;
  if (queue->enqueue(context)) return;
  enqueued--;
  failed++;
}

void sample() {
  while (!stopping) {
    std::this_thread::sleep_for(interval);
    std::lock_guard<std::mutex> guard(lock);
    for (auto &thread : threads) syscall(SYS_tgkill, getpid(), thread.first, SIGPROF);
  }
}

void JNICALL on_thread_start(jvmtiEnv *, JNIEnv *env, jthread) {
  if (queue == nullptr) enter(env);
}

void JNICALL on_thread_end(jvmtiEnv *, JNIEnv *, jthread) { leave(); }

void JNICALL on_vm_init(jvmtiEnv *jvmti, JNIEnv *env, jthread) {
  if (!asgst::initialize(env) || !(ASGST_Capabilities() & ASGST_REGISTER_QUEUE)) {
    std::fprintf(stderr, "queue: this JVM cannot be walked\n");
    return;
  }
  struct sigaction action = {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigaction(SIGPROF, &action, nullptr);
  /* Threads that started before this event belong to the VM. The main thread is the calling one. */
  enter(env);
  jvmti->SetEventNotificationMode(JVMTI_ENABLE, JVMTI_EVENT_THREAD_START, nullptr);
  jvmti->SetEventNotificationMode(JVMTI_ENABLE, JVMTI_EVENT_THREAD_END, nullptr);
  sampler = std::thread(sample);
}

void JNICALL on_vm_death(jvmtiEnv *, JNIEnv *) {
  if (!sampler.joinable()) return;
  stopping = true;
  sampler.join();
  /* What was enqueued last may not be counted yet, and what a thread left in its queue when it ended never is. */
  for (int wait = 0; wait < 1000 && counted < enqueued; wait++) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::lock_guard<std::mutex> guard(lock);
  for (auto &stack : stacks) std::printf("%s %ld\n", stack.first.c_str(), stack.second);
  /* Handlers may still run, but nothing is counted while the lock is held. */
  const long all = enqueued;
  std::printf("Enqueued: %ld, left: %ld, failed: %ld, without callers: %ld\n", all, all - counted, failed.load(), incomplete.load());
  std::fflush(stdout);
}

}  // namespace

extern "C" JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *) {
  if (options && *options) interval = std::chrono::milliseconds(std::atol(options));
  jvmtiEnv *jvmti = nullptr;
  if (interval.count() <= 0 || vm->GetEnv(reinterpret_cast<void **>(&jvmti), JVMTI_VERSION_11)) return JNI_ERR;
  jvmtiEventCallbacks callbacks = {};
  callbacks.VMInit = on_vm_init;
  callbacks.VMDeath = on_vm_death;
  callbacks.ThreadStart = on_thread_start;
  callbacks.ThreadEnd = on_thread_end;
  jvmti->SetEventCallbacks(&callbacks, sizeof callbacks);
  jvmti->SetEventNotificationMode(JVMTI_ENABLE, JVMTI_EVENT_VM_INIT, nullptr);
  jvmti->SetEventNotificationMode(JVMTI_ENABLE, JVMTI_EVENT_VM_DEATH, nullptr);
  return JNI_OK;
}
