# How everything is compiled: `wavetail_options` carries warnings, sanitizers and the flags that keep results
# equal between compilers. ccache and a fast linker are used where they are installed, never required.
add_library(wavetail_options INTERFACE)
target_compile_options(wavetail_options INTERFACE
  -ffp-contract=off  # a fused multiply-add would change results between compilers and machines
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wold-style-cast
  $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>  # std::stable_sort of libstdc++ 12 warns by itself
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>  # false alarms on std::string concatenation in GCC 12 (GCC bug 105329)
  $<$<BOOL:${WAVETAIL_WERROR}>:-Werror>)

if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  # Processors since 2009: bitmaps of sectors and warps are counted with one instruction.
  target_compile_options(wavetail_options INTERFACE -march=x86-64-v2)
endif()

if(WAVETAIL_SANITIZE)
  set(sanitize -fsanitize=${WAVETAIL_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_compile_options(wavetail_options INTERFACE ${sanitize})
  target_link_options(wavetail_options INTERFACE ${sanitize})
endif()

if(PROJECT_IS_TOP_LEVEL)
  find_program(WAVETAIL_CCACHE ccache)
  if(WAVETAIL_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${WAVETAIL_CCACHE})
  endif()
  find_program(WAVETAIL_MOLD mold)
  if(WAVETAIL_MOLD AND NOT WAVETAIL_LTO)  # mold 1.10 may stop at objects that hold both kinds of code
    target_link_options(wavetail_options INTERFACE -fuse-ld=mold)
  endif()
endif()
