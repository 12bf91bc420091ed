#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// To be given to `free`.
func copyOfText(_ text: String) -> UnsafeMutablePointer<CChar> {
  guard let copy = strdup(text) else { fatalError("out of memory") }
  return copy
}
