# The ids of docs/deviations.md, for scenarios that name one as a known miss: the first column of its tables.
set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/docs/deviations.md)
file(STRINGS ${PROJECT_SOURCE_DIR}/docs/deviations.md deviation_rows REGEX "^[|] `[a-z0-9-]+`")
set(DEVIATION_IDS "")
foreach(row IN LISTS deviation_rows)
  if(row MATCHES "^[|] `([a-z0-9-]+)`")
    string(APPEND DEVIATION_IDS "      \"${CMAKE_MATCH_1}\",\n")
  endif()
endforeach()
configure_file(${PROJECT_SOURCE_DIR}/sim/scenario/deviation_ids.cc.in
  ${PROJECT_BINARY_DIR}/generated/deviation_ids.cc @ONLY)
target_sources(wavetail_scenario PRIVATE ${PROJECT_BINARY_DIR}/generated/deviation_ids.cc)
