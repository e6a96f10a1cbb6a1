# SPDX-License-Identifier: Apache-2.0
# Runs in slices: included by tests/CMakeLists.txt.
foreach(lane host boards least least_vectors)
  pytest_test(slices.${lane} full test_slices.py::test_${lane})
endforeach()
pytest_test(slices.examples quick test_examples.py)
pytest_test(slices.projects full test_slice_projects.py)

# Inputs that are fed by rows.
pytest_test(slices.feed quick test_feed.py::test_feed)
pytest_test(slices.feed.shared full test_feed.py::test_feed_shared)

# Inputs that are frames in time.
pytest_test(slices.frames quick test_frames.py -k "not options and not shared")
pytest_test(slices.frames.options full test_frames.py::test_options)
pytest_test(slices.frames.shared full test_frames.py -k shared)
pytest_test(slices.price full test_price.py)
pytest_test(slices.arenas full test_arenas.py)

# How long slices are, and how well aotc knows it: counts of an emulated Cortex-M4.
pytest_test(slices.measured full test_slice_costs.py::test_calls)
pytest_test(slices.measured.shared full test_slice_costs.py::test_shared_calls)
pytest_test(slices.measured.parts full test_slice_costs.py::test_shared_parts)
