/*
 * Calls that have nothing to work with, before ASGST_Initialize and after it, and a library that is closed. The option is the
 * path of the library, which this agent is not linked with.
 */
#define _GNU_SOURCE
#include <profile2.h>

#include <dlfcn.h>
#include <jvmti.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

enum { DEPTH = 8, SIZE = 16 };

static const char *path;
static void *library;
static int walked;

static void *function(const char *name) { return dlsym(library, name); }

/* The number of texts that are not empty, of a method and a class that there are not. */
static int texts(void) {
  void (*get_method)(ASGST_Method, ASGST_MethodInfo *) = function("ASGST_GetMethodInfo");
  void (*get_class)(ASGST_Class, ASGST_ClassInfo *) = function("ASGST_GetClassInfo");
  char buffers[5][SIZE];
  memset(buffers, 'x', sizeof buffers);
  ASGST_MethodInfo method = {buffers[0], SIZE, buffers[1], SIZE, buffers[2], SIZE, (ASGST_Class)8};
  ASGST_ClassInfo class = {buffers[3], SIZE, buffers[4], SIZE};
  get_method(NULL, &method);
  get_method(NULL, NULL);
  get_class(NULL, &class);
  get_class(NULL, NULL);
  int texts = method.klass != NULL || method.method_name_length || method.signature_length ||
              method.generic_signature_length || class.class_name_length || class.generic_class_name_length;
  for (int at = 0; at < 5; at++) texts += buffers[at][0] != 0;
  return texts;
}

static int frames(ASGST_CallFrame *room, jint depth) {
  void (*walk)(ASGST_CallTrace *, jint, void *, uint32_t) = function("AsyncGetStackTrace");
  ASGST_CallTrace trace = {99, 0, room, NULL};
  walk(NULL, depth, NULL, 0);
  walk(&trace, depth, NULL, 0);
  return trace.num_frames;
}

static void JNICALL on_class_prepare(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jclass class) {
  ASGST_CallFrame room[DEPTH];
  (void)jvmti, (void)env, (void)thread, (void)class;
  if (library == NULL || walked || frames(room, DEPTH) <= 0) return;
  walked = 1;
  printf("without_room %d without_depth %d negative_depth %d ", frames(NULL, DEPTH), frames(room, 0), frames(room, -1));
}

static void JNICALL on_vm_init(jvmtiEnv *jvmti, JNIEnv *env, jthread thread) {
  (void)jvmti, (void)thread;
  library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    printf("%s\n", dlerror());
    return;
  }
  int (*initialize)(JNIEnv *) = function("ASGST_Initialize");
  ASGST_CallFrame room[DEPTH];
  printf("texts_before %d walk_before %d ", texts(), -frames(room, DEPTH));
  printf("initialized %d ", initialize(env) == 0);
  printf("texts_after %d ", texts());
}

static void JNICALL on_vm_death(jvmtiEnv *jvmti, JNIEnv *env) {
  struct sigaction action;
  Dl_info place;
  void *handler;
  (void)jvmti, (void)env;
  printf("closed %d ", library != NULL && dlclose(library) == 0);
  library = NULL;
  sigaction(SIGSEGV, NULL, &action);
  memcpy(&handler, &action.sa_sigaction, sizeof handler);
  printf("handler_is_there %d\n", dladdr(handler, &place) != 0);
  fflush(stdout);
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved) {
  jvmtiEnv *jvmti = NULL;
  jvmtiEventCallbacks callbacks;
  (void)reserved;
  if (options == NULL || (*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_11) != JNI_OK) return JNI_ERR;
  path = strdup(options);
  memset(&callbacks, 0, sizeof callbacks);
  callbacks.VMInit = on_vm_init;
  callbacks.VMDeath = on_vm_death;
  callbacks.ClassPrepare = on_class_prepare;
  (*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof callbacks);
  (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_VM_INIT, NULL);
  (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_VM_DEATH, NULL);
  (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_CLASS_PREPARE, NULL);
  return JNI_OK;
}
