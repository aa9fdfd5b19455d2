/* AsyncGetCallTrace (forte.cpp), and the jmethodIDs without which it returns no methods. */
#ifndef ASGCT_H
#define ASGCT_H

#include <jvmti.h>

typedef struct {
  jint lineno;
  jmethodID method_id;
} CallFrame;

typedef struct {
  JNIEnv *env;
  jint num_frames;
  CallFrame *frames;
} CallTrace;

/* Lets the VM make the jmethodIDs of a class. */
static inline void prime(jvmtiEnv *jvmti, jclass class) {
  jint count;
  jmethodID *methods;
  if ((*jvmti)->GetClassMethods(jvmti, class, &count, &methods) == JVMTI_ERROR_NONE)
    (*jvmti)->Deallocate(jvmti, (unsigned char *)methods);
}

/* As `prime`, for all classes that are loaded. */
static inline void prime_loaded(jvmtiEnv *jvmti) {
  jint count;
  jclass *classes;
  if ((*jvmti)->GetLoadedClasses(jvmti, &count, &classes) != JVMTI_ERROR_NONE) return;
  for (int i = 0; i < count; i++) prime(jvmti, classes[i]);
  (*jvmti)->Deallocate(jvmti, (unsigned char *)classes);
}

#endif
