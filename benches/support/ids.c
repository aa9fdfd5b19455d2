/* An agent that does nothing but have the method ids of each prepared class made, as any agent must that asks
 * AsyncGetCallTrace. For `cargo bench --bench memory`. */
#include <jvmti.h>

static void JNICALL prepared(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jclass class) {
    (void)jni;
    (void)thread;
    jint count = 0;
    jmethodID *methods = NULL;
    if ((*jvmti)->GetClassMethods(jvmti, class, &count, &methods) == JVMTI_ERROR_NONE) {
        (*jvmti)->Deallocate(jvmti, (unsigned char *)methods);
    }
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved) {
    (void)options;
    (void)reserved;
    jvmtiEnv *jvmti = NULL;
    if ((*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_11) != JNI_OK) {
        return JNI_ERR;
    }
    jvmtiEventCallbacks callbacks = {0};
    callbacks.ClassPrepare = prepared;
    jvmtiError error = (*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof callbacks);
    if (error == JVMTI_ERROR_NONE) {
        error = (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_CLASS_PREPARE, NULL);
    }
    return error == JVMTI_ERROR_NONE ? JNI_OK : JNI_ERR;
}
