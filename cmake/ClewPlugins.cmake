# Libraries of graphs, and programs that load them. Part of the installed package.

# clew_add_graph_plugin(NAME SOURCES...): the graphs that SOURCES export with CLEW_GRAPH, as
# libNAME.so, which an entry "./libNAME.so:function" of clew.json loads.
function(clew_add_graph_plugin name)
  add_library(${name} MODULE ${ARGN})
  target_compile_features(${name} PRIVATE cxx_std_20)
  # Only the headers: the engine is that of the program that loads the plugin.
  target_include_directories(${name} SYSTEM PRIVATE
    $<TARGET_PROPERTY:clew::core,INTERFACE_INCLUDE_DIRECTORIES>)
  # A unique symbol would keep the library loaded for ever, and its next version bound to it.
  target_compile_options(${name} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique>)
  # A struct of the plugin stays its own if the program has another of the same name.
  target_link_options(${name} PRIVATE LINKER:-Bsymbolic)
endfunction()

# clew_load_graph_plugins(TARGET): lets a program that calls clew::serve() load plugins, which find
# all of the engine in it.
function(clew_load_graph_plugins target)
  set_target_properties(${target} PROPERTIES ENABLE_EXPORTS ON)
  add_dependencies(${target} clew::core)
  target_link_options(${target} PRIVATE
    "LINKER:--whole-archive,$<TARGET_FILE:clew::core>,--no-whole-archive")
endfunction()
