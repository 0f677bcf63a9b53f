package import DunlinTypes
internal import Glibc

/// Where a command's words go: results to standard output, everything else to standard error.
///
/// Written straight to the descriptors, so that bytes as they are and the lines around them keep their order. A reader
/// who has left ends the program as usual, by SIGPIPE.
package struct Output: Sendable {
    /// The command's name, which stands before what it complains of.
    let name: String
    package let results: Int32
    package let remarks: Int32

    package init(of name: String, results: Int32 = 1, remarks: Int32 = 2) {
        (self.name, self.results, self.remarks) = (name, results, remarks)
    }

    /// A line of the result, or several; whatever servers put into it, it drives no terminal.
    package func print(_ line: String = "") {
        write(Self.shown(line), to: results)
    }

    /// A piece of a body, or what drives the terminal, as it is: what that does is for whoever asked for it to know.
    package func write(_ bytes: Bytes) {
        write(bytes, to: results)
    }

    /// A remark that is not part of the result.
    package func remark(_ line: String) {
        write(Self.shown(line), to: remarks)
    }

    package func warn(_ text: String) { remark("\(name): warning: \(text)") }

    /// What went wrong, in one line; more lines may follow.
    package func complain(_ lines: String...) { complain(lines) }

    package func complain(_ lines: [String]) {
        for (index, line) in lines.enumerated() { remark(index == 0 ? "\(name): \(line)" : line) }
    }

    /// Lines are the command's own; within one, nothing ends it.
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
