// A library to be preloaded into a node under test: its wall clock is off by KITH_TEST_CLOCK seconds. It has nothing to call.
