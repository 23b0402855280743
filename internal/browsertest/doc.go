// Package browsertest is the tests of the page in a browser: Debian's Chromium, driven over a pipe, on projects that
// real hooks made and the real daemon serves. It has nothing but tests; without Chromium they fail and say what is
// missing.
//
//   - main_test.go: the programs, built once, and the browser, started once
//   - project_test.go: a project with an agent that works in it
//   - tab_test.go: a browser of its own cookies, which fails its test for what the console, the policy or the network says
//   - enter_test.go: coming in; views_test.go: every view, axe-core, texts that would run; acts_test.go: every action, and the keys
//   - script_test.go: the types of the page's script, and its parts that need no browser
package browsertest
