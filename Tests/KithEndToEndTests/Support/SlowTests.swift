import Glibc

/// Whether the long forms of the tests are asked for, by `KITH_SLOW_TESTS=1`.
let runsSlowTests = getenv("KITH_SLOW_TESTS").map { String(cString: $0) == "1" } ?? false
