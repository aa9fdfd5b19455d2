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

#endif
