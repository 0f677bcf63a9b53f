import Dunlin
import DunlinCommandLine
import Glibc

/// Reads the cookie files of `-b`.
enum CookieReading {
    /// The file, and what it is called in a warning. A file that is not there has no cookies: it may be what `-c` makes
    /// at the end of the first run. Without that it is a mistake that is worth a warning.
    static func file(
        _ source: SessionOptions.CookieSource, mayBeMissing target: SessionOptions.CookieTarget?, _ output: Output
    ) throws(UsageError) -> (CookieFile, title: String) {
        switch source {
        case .input:
            let title = "standard input"
            return (try read(STDIN_FILENO, title), title)
        case .file(let path):
            let title = "the cookie file \(path)"
            let descriptor = open(path, O_RDONLY | O_CLOEXEC)
            if descriptor < 0 {
                guard errno == ENOENT else {
                    throw UsageError(description: "\(title) cannot be read: \(String(cString: strerror(errno)))")
                }
                if target != .file(path) { output.warn("\(title) is not there, so no cookie is taken from it") }
                return (CookieFile([]), title)
            }
            defer { close(descriptor) }
            return (try read(descriptor, title), title)
        }
    }

    private static func read(_ descriptor: Int32, _ title: String) throws(UsageError) -> CookieFile {
        guard let bytes = InputFile.bytes(of: descriptor, upTo: CookieFile.longest) else {
            throw UsageError(description: "\(title) cannot be read: \(String(cString: strerror(errno)))")
        }
        guard bytes.count <= CookieFile.longest else {
            throw UsageError(description: "\(title) is longer than \(CookieFile.longest.readableBytes)")
        }
        return CookieFile(bytes)
    }
}
