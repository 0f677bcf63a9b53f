extension NetworkError {
    /// Why no connection could be made: the failure of each address that was tried.
    public struct ConnectionFailures: Error, Sendable, Hashable {
        public struct Failure: Sendable, Hashable {
            public var address: HTTP.SocketAddress
            /// The system's error number.
            public var errno: Int32
            /// What failed, in the system's words.
            public var reason: String

            public init(address: HTTP.SocketAddress, errno: Int32, reason: String) {
                self.address = address
                self.errno = errno
                self.reason = reason
            }
        }

        /// The number of failures that are kept.
        public static let limit = 16

        /// The first failures, in the order in which they occurred.
        public private(set) var failures: [Failure] = []
        /// The number of all failures.
        public private(set) var count = 0

        public init(_ failures: [Failure] = []) {
            for failure in failures { append(failure) }
        }

        public mutating func append(_ failure: Failure) {
            count += 1
            if failures.count < Self.limit { failures.append(failure) }
        }
    }
}

extension NetworkError.ConnectionFailures: CustomStringConvertible {
    public var description: String {
        let known = failures.map { "\($0.address): \($0.reason)" }
        return (count > failures.count ? known + ["\(count - failures.count) more"] : known).joined(separator: "; ")
    }
}
