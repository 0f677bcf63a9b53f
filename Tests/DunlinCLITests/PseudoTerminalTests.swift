import Children
import DunlinCommandLine
import Testing

@testable import DunlinCLI

/// The program on a terminal.
@Suite(.timeLimit(.minutes(5))) struct PseudoTerminalTests {
    @Test func `a program on a terminal is seen whole, and its end is known`() async throws {
        let (text, end) = try await PseudoTerminal.run(["version"], columns: 60)
        #expect(text == "dunlin \(DunlinCommand.version)\n")
        #expect(end.status == 0 && !end.wasKilled)
    }
}
