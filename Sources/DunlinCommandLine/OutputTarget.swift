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
        switch status.st_mode & S_IFMT {
        case S_IFREG, S_IFDIR: self = .file(Self.followed(path))
        default: self = .stream(path)
        }
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
        let descriptor = open(path, O_WRONLY | O_CLOEXEC)
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
