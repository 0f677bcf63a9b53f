internal import COpenSSL

/// The file that secrets are appended to, one line at a time, for a protocol analyser. Readable by its owner only.
final class KeyLog: Sendable {
    private let descriptor: Int32

    init(path: String) throws(TLSError) {
        descriptor = dunlin_open_private_log(path)
        guard descriptor >= 0 else { throw .invalidSetting("the key log \(path) cannot be opened for writing") }
    }

    deinit {
        close(descriptor)
    }

    /// One write for each line, at the end of the file wherever that is by then: lines of several threads and processes
    /// do not mix. A line that cannot be written is lost, and nothing but the analyser misses it.
    func append(_ line: String) {
        var line = line + "\n"
        _ = line.withUTF8 { write(descriptor, $0.baseAddress, $0.count) }
    }
}
