import Testing

@testable import FileMaking

@Suite struct ProgressBarTests {
  @Test func `On a terminal one line is drawn over and over`() {
    let text = drawn(isTerminal: true)
    #expect(text.hasPrefix("\rWells ░"))
    #expect(text.hasSuffix("█ 100 %\n"))
    #expect(text.filter { $0 == "\n" }.count == 1)
    #expect(text.split(separator: "\r").count == 33)
  }

  @Test func `Elsewhere a line tells each quarter`() {
    #expect(drawn(isTerminal: false) == "Wells: 0 %\nWells: 25 %\nWells: 50 %\nWells: 75 %\nWells: 100 %\n")
  }

  @Test func `What is interrupted leaves its line`() {
    var text = ""
    var bar = ProgressBar("Wells", total: 10, isTerminal: true) { text += $0 }
    bar.interrupt()
    #expect(text == "", "nothing was drawn")
    bar.update(5)
    bar.interrupt()
    #expect(text.hasSuffix(" 50 %\n"))
    bar.update(10)
    let whole = text
    bar.interrupt()
    #expect(text == whole, "the line is left already")
  }

  private func drawn(isTerminal: Bool) -> String {
    var text = ""
    var bar = ProgressBar("Wells", total: 1_000, isTerminal: isTerminal) { text += $0 }
    for done in 0...1_000 { bar.update(done) }
    return text
  }
}
