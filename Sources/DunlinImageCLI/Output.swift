import Dunlin
import Glibc

/// Where the command's words go: results to standard output, everything else to standard error.
///
/// Written straight to the descriptors, so that pictures and the lines around them keep their order. A reader who
/// has left ends the program as usual, by SIGPIPE.
struct Output {
    var results = STDOUT_FILENO
    var remarks = STDERR_FILENO

    /// A line of the result, or several; whatever servers put into it, it drives no terminal.
    func print(_ line: String = "") {
        write(Self.shown(line), to: results)
    }

    /// What drives the terminal, as it is.
    func write(_ bytes: Bytes) {
        write(bytes, to: results)
    }

    /// A remark that is not part of the result.
    func remark(_ line: String) {
        write(Self.shown(line), to: remarks)
    }

    /// What went wrong, in one line; more lines may follow.
    func complain(_ lines: String...) { complain(lines) }

    func complain(_ lines: [String]) {
        for (index, line) in lines.enumerated() { remark(index == 0 ? "dunlin-image: \(line)" : line) }
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
