# SPDX-License-Identifier: Apache-2.0
# Labels of all entries: the lane (quick, full, all) and the stages of compiler/ that an entry exercises, with those
# that they link. tests/selection.py reads them. label_tests() labels the entries of the folder that calls it.

# scripts/test runs one board of each instruction set and a short time of fuzzing. These are for `scripts/test --all`.
set(aotc_only_in_all
  "^(arduino|platformio|faults|blockwise|speech|float_rule|packaging)(\\.|$)"
  "^analyze\\.(firmware|levels|mlperf|zephyr|hostile|start)$"
  "^avr\\.ops\\.(int8|f32|speed|size|ram)$"
  "^bench\\.(shared|other|more|levels|dynamic_range|svdf|forms|estimates\\.(all|held_out))$"
  "^boards(\\.real|\\.placed|\\.stack|\\.linked|\\.port)?$"
  "^cases\\.(O2|speed\\.conv_2d|packed\\..*\\.fully_connected)$"
  "^cli\\.boards$"
  "^compile\\.cost$"
  "^conventions\\.(bytes\\.shared|cost\\..*)$"
  "^coverage$"
  "^fresh_machine\\."
  "^crt_coverage$"
  "^custom\\.boards$"
  "^devices\\.compiled\\.(gru_steps_int8|resnet)$"
  "^emitted\\.(misra|tidy|runs|hostile_names|arithmetic|workspace)$"
  "^fuzz\\.(tflite|onnx|mlf|graph|text|tflite_mutations|can_fail|hostile_names)$"
  "^graph_json\\.run\\.rv32imac$"
  "^kernels\\.(gcc_O0|clang_O2)$"
  "^layers\\.(all\\..*|vww|resnet|ad|strww|micro_speech|hello_world_.*|ad_f32|gadget_f32|vww_f32|resnet_f32)$"
  "^mlf\\.(operators|writing)\\.shared$"
  "^mlperf\\.(accuracy|models|performance|lines|hostile|arduino|stream_.*)$"
  "^models\\.(figures|together|weights_file|unrolled|keras\\.cortex_m4|weights\\..*|int16\\.(clang|cortex_m4|rv32imac)|int4\\.cortex_m4)$"
  "^models\\.((own|shared|ops)\\.clang|own\\.(preserve|overwrite)\\.cortex_m4|ops\\.(rv32imac|overwrite\\.gcc))$"
  "^onnx\\.(boards|mixed|order|order_depends|networks\\.boards|quantised(\\..*)?|compare|twins|torch_twins|attention|classical\\.boards|projects|large|compile_costs)$"
  "^projects\\.(esp_idf|rust|licence|model_options|all\\..*)$"
  "^python\\.(package|tune|notebooks)$"
  "^proof\\.(all|mutants|rules|values)$"
  "^random_graphs\\.control$"
  "^random_models$"
  "^report\\.(browser|build)$"
  "^rpc\\.(bench\\..*|fuzz\\..*|project_api\\.qemu.*|qemu_mps2_an385|qemu_mps2_an5..|qemu_mps3_an547|qemu_riscv32|BadLine)$"
  "^slices\\.(boards|least|least_vectors|feed\\.shared|frames\\..*|price|arenas|measured.*|projects)$"
  "^state\\.(boards|verify_inside)$"
  "^tvm_interface\\.pools$"
  "^zephyr\\.(run|cross|aotc_run)$")

# Pairs: entries; the stages and programs of scripts/check-layers. What is not here exercises aotc, which has all of
# compiler/ in it. `none`: nothing of compiler/.
set(aotc_stages_of
  "^(check\\.licences|check\\.verdicts|random_models\\.documents|docs\\.(reliability|excerpts|links|pictures|site)|bench\\.unit|fuzz\\.can_fail|crt_.*)$" "none"
  "^check\\." "none"
  "^cases\\.(make|pairs)$" "none"
  "^cases\\.evaluate" "codegen,frontends,options"
  "^cases\\." "codegen,frontends,options"
  "^random_graphs" "codegen,frontends,options"
  "^random_models" "codegen,frontends"
  "^(kernels|proof)\\." "codegen,frontends"
  "^fuzz\\.(short\\.)?(onnx|graph)" "frontends"
  "^fuzz\\.(short\\.)?mlf" "mlf"
  "^fuzz\\.(short\\.)?text" "project,driver"
  "^fuzz\\.(short\\.)?(tflite|op)" "codegen,frontends"
  "^lit$" "aotc-opt"
  "^rpc\\.(Session|BadLine|quick)$" "rpc"
  "^toy_core" "codegen,frontends,driver"
  "^analyze\\.(cases|gcc|tvm|messages|hostile)$" "aotc-analyze,driver")

# Entries that read texts of the whole repository.
set(aotc_reads_all "^(check\\.|cli\\.scripts$|docs\\.(excerpts|slugs|links|pictures|usage|reliability|readme)$|packaging\\.|python\\.package$|random_models\\.documents$|emitted\\.licences$)")

function(label_tests)
  get_property(tests DIRECTORY PROPERTY TESTS)
  foreach(test ${tests})
    string(REGEX REPLACE "^dev\\." "" name ${test})
    get_test_property(${test} LABELS labels)
    if(NOT labels)
      set(labels full)
    endif()
    foreach(pattern ${aotc_only_in_all})
      if(name MATCHES "${pattern}")
        list(REMOVE_ITEM labels quick full)
        list(APPEND labels all)
      endif()
    endforeach()
    set(stages driver)
    list(LENGTH aotc_stages_of count)
    math(EXPR last "${count} - 1")
    foreach(index RANGE 0 ${last} 2)
      math(EXPR behind "${index} + 1")
      list(GET aotc_stages_of ${index} pattern)
      if(name MATCHES "${pattern}")
        list(GET aotc_stages_of ${behind} stages)
        break()
      endif()
    endforeach()
    string(REPLACE "," ";" stages "${stages}")
    list(TRANSFORM stages PREPEND "stage.")
    list(APPEND labels ${stages})
    if(name MATCHES "${aotc_reads_all}")
      list(APPEND labels reads.all)
    endif()
    string(REGEX REPLACE "^docs\\." "" page ${name})
    if(name MATCHES "^docs\\." AND EXISTS ${CMAKE_SOURCE_DIR}/docs/${page}.md)
      list(APPEND labels reads.docs/${page}.md)
    endif()
    if(name STREQUAL crt_portability_test)
      list(APPEND labels reads.docs/crt.md)
    endif()
    list(REMOVE_DUPLICATES labels)
    set_tests_properties(${test} PROPERTIES LABELS "${labels}")
  endforeach()
endfunction()
