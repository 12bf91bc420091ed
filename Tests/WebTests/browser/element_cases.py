"""The list of all tests of `<live-list>`, in the order in which they run."""
import element_changes
import element_focus
import element_life
import element_scrolling
import element_templates

TESTS = [
    *element_scrolling.TESTS, *element_focus.TESTS, *element_changes.TESTS, *element_templates.TESTS,
    *element_life.TESTS,
]
