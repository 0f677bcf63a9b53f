package import Dunlin
internal import Glibc

/// A command's output: results to standard output, everything else to standard error.
///
/// It is written directly to the descriptors, so that raw bytes and the lines around them keep their order. If the
/// reader is gone, SIGPIPE ends the program as usual. What cannot be written is noted: `check()` throws it, so that
/// nothing more is fetched, and `end(_:)` says it.
package struct Output: Sendable {
    /// The command's name, which precedes its error messages.
    let name: String
    private var writer: DescriptorWriter
    private let remarking: DescriptorWriter
    /// Whether warnings, and errors, are left out.
    package var hidesWarnings = false
    package var hidesErrors = false
    /// Whether the last line stays open if the result leaves it open.
    package var keepsLastLineOpen = false

    package var results: Int32 { writer.descriptor }
    package var remarks: Int32 { remarking.descriptor }
    /// Where results and remarks appear.
    package var screen: Screen { writer.screen }
    package var remarkScreen: Screen { remarking.screen }

    package init(of name: String, results: Int32 = 1, remarks: Int32 = 2) {
        self.name = name
        writer = DescriptorWriter(results, name: "standard output")
        remarking = DescriptorWriter(remarks, name: "standard error")
    }

    /// The same whose results go to a descriptor that is called `name` in messages.
    func writing(to descriptor: Int32, named name: String) -> Output {
        var output = self
        output.writer = DescriptorWriter(descriptor, name: name)
        return output
    }

    /// Prints one or more lines of the result. Text from servers cannot control the terminal.
    package func print(_ line: String = "") { writer.write(Self.shown(line)) }

    /// Prints a line of the result in several styles. The text is made safe in the same way.
    package func print(_ line: [StyledText]) { writer.write(Self.shown(line, writer.screen)) }

    /// Writes raw bytes: a piece of a body, or control sequences. Their effect is the caller's responsibility.
    package func write(_ bytes: Bytes) { writer.write(bytes) }

    /// Prints a remark that is not part of the result.
    package func remark(_ line: String) {
        endLine()
        remarking.write(Self.shown(line))
    }

    /// Prints a remark in several styles.
    package func remark(_ line: [StyledText]) {
        endLine()
        remarking.write(Self.shown(line, remarking.screen))
    }

    package func warn(_ text: String) {
        if !hidesWarnings { message("\(name): warning: \(text)") }
    }

    /// Prints an error message: one line, perhaps followed by more.
    package func complain(_ lines: String...) { complain(lines) }

    package func complain(_ lines: [String]) {
        if hidesErrors { return }
        for (index, line) in lines.enumerated() { message(index == 0 ? "\(name): \(line)" : line) }
    }

    /// Throws what kept results from being written.
    package func check() throws(OutputFailure) {
        if let failure = writer.failure { throw failure }
    }

    /// Ends the last line, closes the results, says what could not be written, and returns the code with which the
    /// command ends.
    func end(_ code: ExitCode) -> ExitCode {
        if !keepsLastLineOpen, screen.isTerminal, writer.isWithinLine { writer.write(Bytes("\n")) }
        writer.close()
        guard let failure = writer.failure else { return code }
        if !failure.isOfClosedPipe { complain(failure.description) }
        return .unwritten
    }

    /// Nothing is said on a line of the body.
    private func endLine() {
        if screen.isTerminal, remarking.screen.isTerminal, writer.isWithinLine { writer.write(Bytes("\n")) }
    }

    /// A message of the command's own, in lines of whole words where somebody reads it.
    private func message(_ line: String) {
        guard remarkScreen.isTerminal else { return remark(line) }
        for line in line.split(separator: "\n", omittingEmptySubsequences: false) {
            let lines = WrappedText.lines(
                of: VisibleText.of(line, upTo: .max), width: remarkScreen.columns - 1, indent: 4)
            for line in lines { remark(line) }
        }
    }

    /// The text made safe. Line ends are the command's own; those within a line are removed.
    private static func shown(_ text: String) -> Bytes {
        let lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
        return Bytes(lines.map { VisibleText.of(String($0), upTo: .max) + "\n" }.joined())
    }

    private static func shown(_ line: [StyledText], _ screen: Screen) -> Bytes {
        let parts = line.map { part in
            let text = VisibleText.of(part.text, upTo: .max)
            if part.style == .plain || !screen.hasColour || text.isEmpty { return text }
            return part.style.control + text + TextStyle.plain.control
        }
        return Bytes(parts.joined() + "\n")
    }
}
