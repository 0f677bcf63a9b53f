package import Dunlin
internal import Glibc

/// A command's output: results to standard output, everything else to standard error.
///
/// It is written directly to the descriptors, so that raw bytes and the lines around them keep their order. If the
/// reader is gone, SIGPIPE ends the program as usual.
package struct Output: Sendable {
    /// The command's name, which precedes its error messages.
    let name: String
    package private(set) var results: Int32
    package let remarks: Int32
    /// Whether warnings, and errors, are left out.
    package var hidesWarnings = false
    package var hidesErrors = false

    package init(of name: String, results: Int32 = 1, remarks: Int32 = 2) {
        (self.name, self.results, self.remarks) = (name, results, remarks)
    }

    /// The same whose results go elsewhere.
    func writing(to descriptor: Int32) -> Output {
        var output = self
        output.results = descriptor
        return output
    }

    /// Prints one or more lines of the result. Text from servers cannot control the terminal.
    package func print(_ line: String = "") {
        write(Self.shown(line), to: results)
    }

    /// Writes raw bytes: a piece of a body, or control sequences. Their effect is the caller's responsibility.
    package func write(_ bytes: Bytes) {
        write(bytes, to: results)
    }

    /// Prints a remark that is not part of the result.
    package func remark(_ line: String) {
        write(Self.shown(line), to: remarks)
    }

    package func warn(_ text: String) {
        if !hidesWarnings { remark("\(name): warning: \(text)") }
    }

    /// Prints an error message: one line, perhaps followed by more.
    package func complain(_ lines: String...) { complain(lines) }

    package func complain(_ lines: [String]) {
        if hidesErrors { return }
        for (index, line) in lines.enumerated() { remark(index == 0 ? "\(name): \(line)" : line) }
    }

    /// The text made safe. Line ends are the command's own; those within a line are removed.
    private static func shown(_ text: String) -> Bytes {
        let lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
        return Bytes(lines.map { VisibleText.of(String($0), upTo: .max) + "\n" }.joined())
    }

    private func write(_ bytes: Bytes, to descriptor: Int32) {
        bytes.withUnsafeBytes { buffer in
            var rest = buffer[...]
            while !rest.isEmpty {
                let count = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if count < 0 {
                    if errno == EINTR { continue }
                    // Nobody is left to be told.
                    exit(ExitCode.failure.rawValue)
                }
                rest = rest.dropFirst(count)
            }
        }
    }
}
