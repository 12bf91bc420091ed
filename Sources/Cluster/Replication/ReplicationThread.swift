import Ground

/// Milliseconds since 1970.
func wallClockMilliseconds() -> Int64 {
  var time = timespec()
  clock_gettime(CLOCK_REALTIME, &time)
  return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
}

/// Has a thread wait.
func pause(milliseconds: Int) { usleep(UInt32(milliseconds) * 1_000) }
