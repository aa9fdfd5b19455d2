//! The JVMTI agent of Stackwitness: trace stacks, walkers, sampler and signal handler
