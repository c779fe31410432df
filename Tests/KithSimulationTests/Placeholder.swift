// The first test file replaces this one.
