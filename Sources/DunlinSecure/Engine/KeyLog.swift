internal import COpenSSL

/// The file that secrets are appended to, line by line, for a protocol analyser. Only its owner can read it.
final class KeyLog: Sendable {
    private let descriptor: Int32

    init(path: String) throws(TLSError) {
        descriptor = dunlin_open_private_log(path)
        guard descriptor >= 0 else { throw .invalidSetting("the key log \(path) cannot be opened for writing") }
    }

    deinit {
        close(descriptor)
    }

    /// Appends a line with one write, so that lines of several threads and processes do not mix. A line that cannot be
    /// written is lost, which affects only the analyser.
    func append(_ line: String) {
        var line = line + "\n"
        _ = line.withUTF8 { write(descriptor, $0.baseAddress, $0.count) }
    }
}
