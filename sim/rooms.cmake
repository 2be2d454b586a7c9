# The rooms of the simulator, floor by floor (docs/architecture.md). A room may use only rooms on lower
# floors; tests/structure/check_layers.py reads the includes and enforces it.
#
# wavetail_room(NAME DEPS...) makes the library wavetail_NAME from sim/NAME/*.cc; a room of headers only
# becomes an INTERFACE library.
function(wavetail_room name)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/sim/${name}/*.cc)
  list(FILTER sources EXCLUDE REGEX "/main\\.cc$")
  list(TRANSFORM ARGN PREPEND wavetail_ OUTPUT_VARIABLE deps)
  if(sources)
    add_library(wavetail_${name} STATIC ${sources})
    target_link_libraries(wavetail_${name} PUBLIC ${deps} PRIVATE wavetail_options)
    target_include_directories(wavetail_${name} PUBLIC ${PROJECT_SOURCE_DIR}/sim)
  else()
    add_library(wavetail_${name} INTERFACE)
    target_link_libraries(wavetail_${name} INTERFACE ${deps})
    target_include_directories(wavetail_${name} INTERFACE ${PROJECT_SOURCE_DIR}/sim)
  endif()
endfunction()

# floor 0
wavetail_room(base)
wavetail_room(unit)
# floor 1
wavetail_room(event base unit)
wavetail_room(config base unit)
# floor 2
wavetail_room(gpu config)
wavetail_room(kernel unit)
wavetail_room(result unit)
# floor 3
wavetail_room(memory event gpu kernel result)
wavetail_room(occupancy gpu kernel)
# floor 4
wavetail_room(sm memory occupancy)
wavetail_room(bound memory occupancy)
# floor 5
wavetail_room(device sm bound)
# floor 6
wavetail_room(library gpu kernel occupancy)
wavetail_room(host device)
# floor 8
wavetail_room(scenario library host config)
# floor 9
wavetail_room(run scenario)
# floor 11
wavetail_room(report run)
# floor 12
wavetail_room(cli report)
