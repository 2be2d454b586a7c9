# The rooms of the simulator, floor by floor (docs/architecture.md). A room may use only rooms on lower
# floors; tests/structure/check_layers.py reads the includes and enforces it.
#
# wavetail_room(NAME ROOMS... [USES LIBRARIES...]) makes the library wavetail_NAME, also known as
# wavetail::NAME, from sim/NAME/**/*.cc; a room of headers only becomes an INTERFACE library. ROOMS are the rooms
# that it includes, USES the outside libraries that only its .cc files see. Every room may use fmt.
function(wavetail_room name)
  cmake_parse_arguments(PARSE_ARGV 1 room "" "" "USES")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/sim/${name}/*.cc)
  list(FILTER sources EXCLUDE REGEX "/main\\.cc$")
  list(TRANSFORM room_UNPARSED_ARGUMENTS PREPEND wavetail_ OUTPUT_VARIABLE rooms)
  if(sources)
    set(scope PUBLIC)
    add_library(wavetail_${name} STATIC ${sources})
    target_link_libraries(wavetail_${name} PUBLIC ${rooms}
      PRIVATE $<BUILD_INTERFACE:wavetail_options> fmt::fmt ${room_USES})
  else()
    set(scope INTERFACE)
    add_library(wavetail_${name} INTERFACE)
    target_link_libraries(wavetail_${name} INTERFACE ${rooms})
  endif()
  target_include_directories(wavetail_${name} ${scope}
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/sim> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/wavetail>)
  add_library(wavetail::${name} ALIAS wavetail_${name})
  set_target_properties(wavetail_${name} PROPERTIES EXPORT_NAME ${name})
  set_property(GLOBAL APPEND PROPERTY WAVETAIL_ROOMS ${name})
endfunction()

# floor 0
wavetail_room(base)
wavetail_room(unit)
# floor 1
wavetail_room(event base unit)
wavetail_room(config base unit USES yaml-cpp)
# floor 2
wavetail_room(gpu config USES nlohmann_json::nlohmann_json)
wavetail_room(kernel unit)
wavetail_room(result unit)
# floor 3
wavetail_room(memory event gpu kernel result)
wavetail_room(occupancy gpu kernel)
wavetail_room(isa gpu kernel)
# floor 4
wavetail_room(sm memory occupancy isa)
wavetail_room(bound memory occupancy isa)
# floor 5
wavetail_room(device sm bound)
# floor 6
wavetail_room(library gpu kernel occupancy isa)
wavetail_room(host device)
# floor 8
wavetail_room(scenario library host config isa USES nlohmann_json::nlohmann_json)
# floor 9
wavetail_room(run scenario USES Threads::Threads)
# floor 10
wavetail_room(study run USES Threads::Threads Eigen3::Eigen)
# floor 11
wavetail_room(report study USES nlohmann_json::nlohmann_json)
# floor 12
wavetail_room(cli report USES Boost::program_options)
