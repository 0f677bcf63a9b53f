internal import DunlinReactor

extension HTTPSession {
    /// An operation that a file system refused.
    public struct FileFailure: Error, Sendable, CustomStringConvertible {
        /// The path of the file.
        public var path: String
        /// The kernel's error number.
        public var errno: Int32
        /// The path of the downloaded file, if it was complete but could not be moved to its name. It belongs to the
        /// caller.
        public var keptAt: String?
        /// Why a file was not used although it could be opened; nil if the file system refused it. `errno` is then
        /// `EPERM`.
        package var distrust: Distrust?

        /// Why a file or folder does not belong to this user alone.
        package enum Distrust: Sendable, Hashable {
            /// It is not a regular file.
            case otherKind
            /// It belongs to another user, with this ID.
            case ownedBy(UInt32)
            /// It has this many names, and may be reached by any of them.
            case hasNames(Int)
            case isWritableByGroup
            case isWritableByOthers
        }

        public init(path: String, errno: Int32, keptAt: String? = nil) {
            self.path = path
            self.errno = errno
            self.keptAt = keptAt
        }

        /// Whether there is no space left: on the disk, for this user, or for so large a file.
        public var meansNoSpace: Bool { Errno(rawValue: errno).meansNoSpace }

        public var description: String {
            "\(path): \(distrust?.description ?? reason)"
                + (keptAt.map { "; what was downloaded is kept in \($0)" } ?? "")
        }

        private var reason: String {
            let errno = Errno(rawValue: errno)
            if errno.meansLocked {
                return """
                    another download is writing it, perhaps in another process; wait for that, or choose another \
                    destination
                    """
            }
            if errno.meansExisting { return "it already exists; `transfer: .init(overwrites: true)` replaces it" }
            return "\(errno)"
        }
    }
}

extension NetworkError {
    /// The file system's refusal; nil if the error has another cause.
    public var fileFailure: HTTPSession.FileFailure? { underlying as? HTTPSession.FileFailure }
}

extension HTTPSession.FileFailure {
    init(_ path: String, _ errno: Errno, keptAt: String? = nil) {
        self.init(path: path, errno: errno.rawValue, keptAt: keptAt)
    }

    init(_ path: String, _ fault: FileOwnership.Fault) {
        self.init(path, .notOurs)
        distrust = Distrust(fault)
    }

    /// The error for a download that got as far as `head`. It is in no network phase.
    func error(_ code: NetworkError.Code, _ reason: String, _ head: ResponseHead?) -> NetworkError {
        let reason = meansNoSpace ? "the disk has no room for the file" : reason
        return NetworkError(code, reason, requestMayHaveBeenSent: true, underlying: self, response: head)
    }
}

extension HTTPSession.FileFailure.Distrust: CustomStringConvertible {
    init(_ fault: FileOwnership.Fault) {
        self =
            switch fault {
            case .kind: .otherKind
            case .owner(let user): .ownedBy(user)
            case .links(let count): .hasNames(count)
            case .group: .isWritableByGroup
            case .others: .isWritableByOthers
            }
    }

    package var description: String {
        switch self {
        case .otherKind: "it is not a regular file; choose another path"
        case .ownedBy(let user):
            "it belongs to user \(user); chown it to the user of this program, or choose another path"
        case .hasNames(let count): "it has \(count) names (hard links); remove it, or choose another path"
        case .isWritableByGroup: "its group may write to it; forbid that by chmod g-w, or choose another path"
        case .isWritableByOthers: "others may write to it; forbid that by chmod o-w, or choose another path"
        }
    }
}

// MARK: - Off the loop

extension HTTPSession.FileFailure {
    static func onDisk<Value: Sendable>(
        _ work: @escaping @Sendable () throws(HTTPSession.FileFailure) -> Value
    ) async throws(HTTPSession.FileFailure) -> Value {
        let outcome: Result<Value, HTTPSession.FileFailure> = await DiskThreads.shared.run {
            do throws(HTTPSession.FileFailure) { return .success(try work()) } catch { return .failure(error) }
        }
        return try outcome.get()
    }
}
