/*
 * A JVMTI agent that asks libasgst for the names of methods and classes, and for frames of C, where JVMTI can say what is
 * right: at events, in the thread's own call. At the end of the VM it asks for all names again, when many classes are
 * unloaded, and prints lines of names and numbers. With the option "redefine" it redefines classes for `Redefine.java`.
 */
#define _GNU_SOURCE
#include "profile2.h"
#include <jvmti.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH 256
#define LONGEST 1024
#define MOST_SEEN 65536

typedef struct {
  ASGST_Method method;
  ASGST_Class class;
  char *name; /* class, name and descriptor */
  char *class_name;
} Seen;

static jvmtiEnv *jvmti;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Seen seen[MOST_SEEN];
static long seen_count;
static bool ready;
static long redefined;
static long walks, frames_of_c, with_c_below, with_c_between, java_differs;
static long names, names_differ, generic_names, class_names, class_names_differ, generic_class_names;

typedef struct {
  char name[LONGEST], signature[LONGEST], generic[LONGEST], class_name[LONGEST], generic_class[LONGEST];
  int generic_length, generic_class_length;
  ASGST_Class class;
} Names;

static void ask(ASGST_Method method, Names *out) {
  memset(out, 0, sizeof *out);
  ASGST_MethodInfo info = {out->name, LONGEST, out->signature, LONGEST, out->generic, LONGEST, NULL};
  ASGST_GetMethodInfo(method, &info);
  out->generic_length = info.generic_signature_length;
  out->class = info.klass;
  ASGST_ClassInfo class_info = {out->class_name, LONGEST, out->generic_class, LONGEST};
  ASGST_GetClassInfo(info.klass, &class_info);
  out->generic_class_length = class_info.generic_class_name_length;
}

typedef struct {
  ASGST_Frame frames[DEPTH];
  int count;
} Stack;

static void all(ASGST_Iterator *iterator, void *argument) {
  Stack *stack = argument;
  while (stack->count < DEPTH && ASGST_NextFrame(iterator, &stack->frames[stack->count]) == 1) stack->count++;
}

static bool same(const char *ours, const char *theirs) {
  return strcmp(ours, theirs ? theirs : "") == 0;
}

/* The names of a frame, and those that JVMTI has. */
static void compare(const ASGST_Frame *frame, jmethodID id) {
  static Names ours;
  char *name = NULL, *signature = NULL, *generic = NULL, *class_signature = NULL, *class_generic = NULL;
  jclass class;
  if ((*jvmti)->GetMethodName(jvmti, id, &name, &signature, &generic) != JVMTI_ERROR_NONE) return;
  ask(frame->method, &ours);
  names++;
  generic_names += generic != NULL;
  if (!same(ours.name, name) || !same(ours.signature, signature) || !same(ours.generic, generic) ||
      ours.generic_length != (int)strlen(generic ? generic : "")) {
    names_differ++;
    printf("  %s%s (%s) is not %s%s (%s)\n", ours.name, ours.signature, ours.generic, name, signature,
           generic ? generic : "");
  }
  if ((*jvmti)->GetMethodDeclaringClass(jvmti, id, &class) == JVMTI_ERROR_NONE &&
      (*jvmti)->GetClassSignature(jvmti, class, &class_signature, &class_generic) == JVMTI_ERROR_NONE) {
    class_names++;
    generic_class_names += class_generic != NULL;
    /* The descriptor of a class is L, the name, and a semicolon. A hidden class has a dot in it, where its name has a
       plus (JEP 371). */
    char *theirs = strdup(class_signature + 1);
    theirs[strlen(theirs) - 1] = 0;
    char *dot = strchr(theirs, '.');
    if (dot) *dot = '+';
    if (!same(ours.class_name, theirs) || !same(ours.generic_class, class_generic)) {
      class_names_differ++;
      printf("  %s (%s) is not %s (%s)\n", ours.class_name, ours.generic_class, theirs,
             class_generic ? class_generic : "");
    }
    free(theirs);
  }
  if (seen_count < MOST_SEEN) {
    char text[3 * LONGEST];
    snprintf(text, sizeof text, "%s.%s%s", ours.class_name, ours.name, ours.signature);
    seen[seen_count++] = (Seen){frame->method, ours.class, strdup(text), strdup(ours.class_name)};
  }
  (*jvmti)->Deallocate(jvmti, (unsigned char *)name);
  (*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
  (*jvmti)->Deallocate(jvmti, (unsigned char *)generic);
  (*jvmti)->Deallocate(jvmti, (unsigned char *)class_signature);
  (*jvmti)->Deallocate(jvmti, (unsigned char *)class_generic);
}

static Stack plain; /* without frames of C */

static bool is_java(const ASGST_Frame *frame) {
  return frame->type != ASGST_FRAME_NON_JAVA;
}

static void show_frame(const char *which, const ASGST_Frame *frame) {
  static Names of;
  ask(frame->method, &of);
  printf("  %s: type %d, flags %d, level %d, bci %d, pc %p: %s.%s\n", which, frame->type, frame->flags, frame->comp_level,
         frame->bci, frame->pc, of.class_name, of.name);
}

/* Both stacks from the frame on at which they differ; of the end where one is longer. */
static void show_difference(int k, int differs_at, int java, const Stack *other) {
  int shorter = java < plain.count ? java : plain.count;
  int from = differs_at < 0 ? shorter : differs_at;
  printf("walk %d differs at Java frame %d: %d frames of Java, and %d without frames of C\n", k, from, java, plain.count);
  for (int i = from; i < plain.count && i < from + 4; i++) show_frame("without C", &plain.frames[i]);
  for (int i = 0, at = 0; i < other->count && at < from + 4; i++) {
    if (!is_java(&other->frames[i])) continue;
    if (at++ >= from) show_frame("with C", &other->frames[i]);
  }
}

/* The stack of the calling thread, which is in an event: without frames of C, with them, and as JVMTI has it. */
static void look(jthread thread) {
  static Stack with_c, from_frame;
  static jvmtiFrameInfo theirs[DEPTH];
  jint count;
  if (!ready || (*jvmti)->GetStackTrace(jvmti, thread, 0, DEPTH, theirs, &count) != JVMTI_ERROR_NONE) return;
  plain.count = with_c.count = from_frame.count = 0;
  ASGST_RunWithIterator(NULL, 0, all, &plain);
  ASGST_RunWithIterator(NULL, ASGST_INCLUDE_NON_JAVA_FRAMES, all, &with_c);
  if (plain.count == 0 || plain.count >= DEPTH || with_c.count >= DEPTH) return;
  walks++;
  const ASGST_Frame *top = &plain.frames[0];
  ASGST_RunWithIteratorFromFrame(top->sp, top->fp, top->pc, ASGST_INCLUDE_NON_JAVA_FRAMES, all, &from_frame);
  Stack *all_frames[] = {&with_c, &from_frame};
  for (int k = 0; k < 2; k++) {
    int java = 0, below = 0, between = 0;
    bool agrees = true;
    int differs_at = -1;
    for (int i = 0; i < all_frames[k]->count; i++) {
      const ASGST_Frame *frame = &all_frames[k]->frames[i];
      if (is_java(frame)) {
        /* The program counter of a frame may be one at which the thread was interrupted. Between two records the walk says
           that inlined frames may be missing; at an event it is a return address, so that the other walk knows them. */
        if (java == 0 && frame->flags & ASGST_FRAME_MAY_MISS_INLINED)
          while (java < plain.count && plain.frames[java].type == ASGST_FRAME_JAVA_INLINED &&
                 plain.frames[java].method != frame->method)
            java++;
        agrees = agrees && java < plain.count && frame->method == plain.frames[java].method;
        if (!agrees && differs_at < 0) differs_at = java;
        between += java > 0 && below > 1;
        java++;
        below = 0;
      } else {
        below++;
        frames_of_c++;
      }
    }
    java_differs += !agrees || java != plain.count;
    if (!agrees || java != plain.count) show_difference(k, differs_at, java, all_frames[k]);
    /* The stub by which C calls Java is one, and the VM's own functions are more. */
    with_c_below += below > 3;
    with_c_between += between > 0;
  }
  for (int i = 0; i < count && i < plain.count; i++) compare(&plain.frames[i], theirs[i].method);
}

static void look_alone(jthread thread) {
  pthread_mutex_lock(&lock);
  look(thread);
  pthread_mutex_unlock(&lock);
}

static void JNICALL class_prepare(jvmtiEnv *j, JNIEnv *env, jthread thread, jclass class) {
  (void)j, (void)env, (void)class;
  look_alone(thread);
}

static void JNICALL vm_init(jvmtiEnv *j, JNIEnv *env, jthread thread) {
  (void)j, (void)thread;
  ready = ASGST_Initialize(env) == 0;
}

/* The part of a method that is its address, which the library documents for nobody: only to see that addresses were reused. */
static uintptr_t address_of(const Seen *one) {
  return (uintptr_t)one->method & 0x7ffffffffff8;
}

static int by_address_and_name(const void *a, const void *b) {
  uintptr_t x = address_of(a), y = address_of(b);
  return x != y ? (x > y) - (x < y) : strcmp(((const Seen *)a)->name, ((const Seen *)b)->name);
}

static long count_reused(void) {
  long reused = 0;
  qsort(seen, seen_count, sizeof *seen, by_address_and_name);
  for (long i = 1; i < seen_count; i++)
    reused += address_of(&seen[i]) == address_of(&seen[i - 1]) && strcmp(seen[i].name, seen[i - 1].name) != 0;
  return reused;
}

/* The name of a class, by what the library has given for it when it was loaded. */
static void ask_class(const Seen *one, long *class_gone, long *class_other) {
  char name[LONGEST];
  ASGST_ClassInfo info = {name, LONGEST, NULL, 0};
  ASGST_GetClassInfo(one->class, &info);
  *class_gone += name[0] == 0;
  *class_other += name[0] != 0 && strcmp(name, one->class_name) != 0;
}

static void JNICALL vm_death(jvmtiEnv *j, JNIEnv *env) {
  (void)j, (void)env;
  static Names now;
  long same_again = 0, gone = 0, other = 0, unknown = 0, class_gone = 0, class_other = 0;
  pthread_mutex_lock(&lock);
  for (long i = 0; i < seen_count; i++) {
    ask(seen[i].method, &now);
    char text[3 * LONGEST];
    snprintf(text, sizeof text, "%s.%s%s", now.class_name, now.name, now.signature);
    ask_class(&seen[i], &class_gone, &class_other);
    if (now.class == NULL) {
      gone++;
      unknown += now.name[0] || now.signature[0] || now.class_name[0];
    } else if (strcmp(text, seen[i].name) == 0) {
      same_again++;
    } else {
      other++;
      printf("  %s was %s\n", text, seen[i].name);
    }
  }
  printf("walks %ld frames_of_c %ld with_c_below %ld with_c_between %ld java_differs %ld\n", walks, frames_of_c,
         with_c_below, with_c_between, java_differs);
  printf("names %ld names_differ %ld generic_names %ld class_names %ld class_names_differ %ld generic_class_names %ld\n",
         names, names_differ, generic_names, class_names, class_names_differ, generic_class_names);
  printf("same_again %ld gone %ld gone_with_names %ld other %ld class_gone %ld class_other %ld reused %ld redefined %ld\n",
         same_again, gone, unknown, other, class_gone, class_other, count_reused(), redefined);
  fflush(stdout);
  ready = false;
  pthread_mutex_unlock(&lock);
}

JNIEXPORT void JNICALL Java_Redefine_redefine(JNIEnv *env, jclass self, jclass class, jbyteArray bytes) {
  (void)self;
  jbyte *content = (*env)->GetByteArrayElements(env, bytes, NULL);
  jint length = (*env)->GetArrayLength(env, bytes);
  jvmtiClassDefinition definition = {class, length, (unsigned char *)content};
  jvmtiError error = (*jvmti)->RedefineClasses(jvmti, 1, &definition);
  (*env)->ReleaseByteArrayElements(env, bytes, content, JNI_ABORT);
  redefined += error == JVMTI_ERROR_NONE;
  if (error != JVMTI_ERROR_NONE) (*env)->FatalError(env, "RedefineClasses fails");
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved) {
  (void)reserved;
  if ((*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_11)) return 1;
  jvmtiCapabilities redefines = {.can_redefine_classes = 1};
  if (options && strcmp(options, "redefine") == 0 && (*jvmti)->AddCapabilities(jvmti, &redefines)) return 1;
  jvmtiEventCallbacks callbacks = {.VMInit = vm_init, .VMDeath = vm_death, .ClassPrepare = class_prepare};
  (*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof callbacks);
  jvmtiEvent events[] = {JVMTI_EVENT_VM_INIT, JVMTI_EVENT_VM_DEATH, JVMTI_EVENT_CLASS_PREPARE};
  for (size_t i = 0; i < sizeof events / sizeof *events; i++)
    (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, events[i], NULL);
  return 0;
}
