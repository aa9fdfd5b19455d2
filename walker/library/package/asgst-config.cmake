# find_package(asgst): the targets asgst::asgst (shared) and asgst::static. Both need jni.h: find_package(JNI).
get_filename_component(_asgst_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

if(NOT TARGET asgst::asgst)
  add_library(asgst::asgst SHARED IMPORTED)
  set_target_properties(asgst::asgst PROPERTIES
    IMPORTED_LOCATION "${_asgst_prefix}/lib/libasgst.so.@VERSION@"
    IMPORTED_SONAME "libasgst.so.@MAJOR@"
    INTERFACE_INCLUDE_DIRECTORIES "${_asgst_prefix}/include")
endif()

if(NOT TARGET asgst::static)
  add_library(asgst::static STATIC IMPORTED)
  set_target_properties(asgst::static PROPERTIES
    IMPORTED_LOCATION "${_asgst_prefix}/lib/libasgst.a"
    INTERFACE_LINK_LIBRARIES "gcc_s;pthread;m;dl"
    INTERFACE_INCLUDE_DIRECTORIES "${_asgst_prefix}/include")
endif()

unset(_asgst_prefix)
