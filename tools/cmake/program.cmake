# The combined library `wavetail::wavetail` (every room but cli) and the executable `wavetail`.
add_library(wavetail_all INTERFACE)
add_library(wavetail::wavetail ALIAS wavetail_all)
set_target_properties(wavetail_all PROPERTIES EXPORT_NAME wavetail)
get_property(rooms GLOBAL PROPERTY WAVETAIL_ROOMS)
foreach(room IN LISTS rooms)
  if(NOT room STREQUAL "cli")
    target_link_libraries(wavetail_all INTERFACE wavetail_${room})
  endif()
endforeach()

add_executable(wavetail sim/cli/main.cc)
target_link_libraries(wavetail PRIVATE wavetail_cli wavetail_all wavetail_options)
target_compile_definitions(wavetail PRIVATE WAVETAIL_VERSION="${PROJECT_VERSION}")
set_target_properties(wavetail PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)

# The program finds its files in ../share/wavetail beside the folder it lies in; the build tree is laid out
# like an installed one, with links to the sources.
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/share/wavetail)
foreach(folder configs workloads)
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${folder} ${PROJECT_BINARY_DIR}/share/wavetail/${folder} SYMBOLIC)
endforeach()

# What every event passes through is optimised as one when it becomes part of the program. Tests, and other
# users of the libraries, link the ordinary code that lies beside it.
if(WAVETAIL_LTO AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  foreach(room event memory sm device run)
    target_compile_options(wavetail_${room} PRIVATE -flto=auto -ffat-lto-objects)
  endforeach()
  target_link_options(wavetail PRIVATE -flto=auto)
endif()
