# Random models against LiteRT: included by tests/CMakeLists.txt.
add_executable(check_models ${CMAKE_CURRENT_LIST_DIR}/check_models.cpp
               random_graphs/targets.cpp random_graphs/batches.cpp)
target_link_libraries(check_models PRIVATE aotc_codegen aotc_frontends CLI11::CLI11 Threads::Threads)
target_compile_definitions(check_models PRIVATE AOTC_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
