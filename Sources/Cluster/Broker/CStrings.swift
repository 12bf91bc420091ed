import Ground

/// A copy of a text, which the caller frees with `free`.
func copyOfText(_ text: String) -> UnsafeMutablePointer<CChar> {
  guard let copy = strdup(text) else { fatalError("out of memory") }
  return copy
}
