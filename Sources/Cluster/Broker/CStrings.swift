import Ground

/// To be given to `free`.
func copyOfText(_ text: String) -> UnsafeMutablePointer<CChar> {
  guard let copy = strdup(text) else { fatalError("out of memory") }
  return copy
}
