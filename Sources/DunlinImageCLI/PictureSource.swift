import Dunlin
import DunlinCommandLine
import DunlinImages
import Glibc

/// The source of a picture: a URL, a file or standard input.
struct PictureSource {
    let name: String

    /// The largest accepted file, which pictures within the usual limits do not exceed.
    private static let largest = 512 << 20

    var isURL: Bool {
        let start = name.prefix(8).lowercased()
        return start.hasPrefix("http://") || start.hasPrefix("https://")
    }

    /// Reads a file or standard input to its end.
    func read() throws -> Bytes {
        let descriptor = name == "-" ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileError(name, errno) }
        defer { if descriptor != STDIN_FILENO { close(descriptor) } }
        guard let bytes = InputFile.bytes(of: descriptor, upTo: Self.largest) else { throw FileError(name, errno) }
        if bytes.count > Self.largest { throw FileError(name, EFBIG) }
        return Bytes(bytes)
    }

    /// Writes a file, replacing an existing one.
    static func write(_ bytes: Bytes, to file: String) throws {
        let descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw FileError(file, errno) }
        var rest = bytes.array[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                let error = FileError(file, errno)
                close(descriptor)
                throw error
            }
            rest = rest.dropFirst(count)
        }
        guard close(descriptor) == 0 else { throw FileError(file, errno) }
    }
}

/// A file that cannot be read or written.
struct FileError: Error, CustomStringConvertible {
    let description: String

    init(_ file: String, _ number: Int32) {
        description = "\(file): \(String(cString: strerror(number)))"
    }
}
