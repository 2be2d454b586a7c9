# Run by ctest: install, move the tree (nothing may depend on where it was), build the consumer, run both.
set(CMAKE_EXECUTE_PROCESS_COMMAND_ECHO STDOUT)
file(REMOVE_RECURSE ${WORK_DIR})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${WORK_DIR}/first
  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
file(RENAME ${WORK_DIR}/first ${WORK_DIR}/prefix)
execute_process(COMMAND ${CMAKE_COMMAND} -S ${CONSUMER_DIR} -B ${WORK_DIR}/build -G ${GENERATOR}
  -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${WORK_DIR}/build COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${WORK_DIR}/build/consumer OUTPUT_VARIABLE sms COMMAND_ERROR_IS_FATAL ANY)
if(NOT sms STREQUAL "132\n")
  message(FATAL_ERROR "the consumer printed '${sms}', not 132")
endif()
execute_process(COMMAND ${WORK_DIR}/prefix/bin/wavetail --version
  OUTPUT_VARIABLE version COMMAND_ERROR_IS_FATAL ANY)
if(NOT version MATCHES "${VERSION}")
  message(FATAL_ERROR "the installed program says '${version}', not ${VERSION}")
endif()
# From elsewhere the installed program still finds its own GPU files.
execute_process(COMMAND ${WORK_DIR}/prefix/bin/wavetail list gpus WORKING_DIRECTORY /
  OUTPUT_VARIABLE gpus COMMAND_ERROR_IS_FATAL ANY)
if(NOT gpus MATCHES "h100-sxm")
  message(FATAL_ERROR "the installed program lists '${gpus}', without h100-sxm")
endif()
