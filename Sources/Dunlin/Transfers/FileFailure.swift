internal import DunlinReactor

extension HTTPSession {
    /// What a file system said no to.
    public struct FileFailure: Error, Sendable, CustomStringConvertible {
        /// Which file it was about.
        public var path: String
        /// The kernel's number.
        public var errno: Int32
        /// Where what was downloaded lies, if it does: of a file that was complete and could not be given its name. It
        /// is the caller's from then on.
        public var keptAt: String?

        public init(path: String, errno: Int32, keptAt: String? = nil) {
            self.path = path
            self.errno = errno
            self.keptAt = keptAt
        }

        /// There is no more room: on the disk, for this user, or for a file this large.
        public var meansNoSpace: Bool { Errno(rawValue: errno).meansNoSpace }

        public var description: String {
            "\(path): \(Errno(rawValue: errno))" + (keptAt.map { "; what was downloaded lies in \($0)" } ?? "")
        }
    }
}

extension NetworkError {
    /// What a file system said no to; nil unless that was it.
    public var fileFailure: HTTPSession.FileFailure? { underlying as? HTTPSession.FileFailure }
}

extension HTTPSession.FileFailure {
    init(_ path: String, _ errno: Errno, keptAt: String? = nil) {
        self.init(path: path, errno: errno.rawValue, keptAt: keptAt)
    }

    /// The error for a download that came as far as `head`.
    func error(_ code: NetworkError.Code, _ reason: String, _ head: ResponseHead?) -> NetworkError {
        NetworkError(code, reason, phase: .idle, requestMayHaveBeenSent: true, underlying: self, response: head)
    }
}
