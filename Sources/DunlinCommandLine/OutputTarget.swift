internal import Glibc

/// What a name after `-o` stands for.
package enum OutputTarget: Equatable {
    /// A regular file, or nothing yet: a download appears there in one step. Links have been followed.
    case file(String)
    /// A device, a pipe or a socket, which is written to and never replaced.
    case stream(String)

    package init(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else {
            self = .file(path)
            return
        }
        // The file behind /dev/stdout: what else is written to it would be lost with the file that was replaced.
        if Self.standard.contains(where: { Self.isSame(status, $0) }) {
            self = .stream(path)
            return
        }
        switch status.st_mode & S_IFMT {
        case S_IFREG, S_IFDIR: self = .file(Self.followed(path))
        default: self = .stream(path)
        }
    }

    private static let standard = [STDOUT_FILENO, STDERR_FILENO]

    private static func isSame(_ status: stat, _ descriptor: Int32) -> Bool {
        var other = stat()
        return fstat(descriptor, &other) == 0 && other.st_dev == status.st_dev && other.st_ino == status.st_ino
    }

    /// A descriptor for writing to what is at the path. If that is one of the standard ones, it is a copy, which writes
    /// where that one is.
    private static func opened(_ path: String) -> Int32 {
        var status = stat()
        if stat(path, &status) == 0, let own = standard.first(where: { isSame(status, $0) }) {
            return fcntl(own, F_DUPFD_CLOEXEC, 3)
        }
        return open(path, O_WRONLY | O_CLOEXEC)
    }

    /// The path without links: whoever replaced a link would leave the file as it is.
    private static func followed(_ path: String) -> String {
        guard let real = realpath(path, nil) else { return path }
        defer { free(real) }
        return String(cString: real)
    }

    /// Calls `body` with the output whose results go to what is at the path.
    package static func writing(
        to path: String, _ output: Output, _ body: (Output) async throws -> ExitCode
    ) async throws -> ExitCode {
        let descriptor = opened(path)
        guard descriptor >= 0 else {
            output.complain("\(path) cannot be written to: \(String(cString: strerror(errno)))")
            return .failure
        }
        let target = output.writing(to: descriptor, named: path)
        do {
            return target.end(try await body(target))
        } catch is OutputFailure {
            return target.end(.unwritten)
        } catch {
            _ = target.end(.failure)
            throw error
        }
    }
}
