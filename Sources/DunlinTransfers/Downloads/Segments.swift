extension HTTPSession {
    /// How many exchanges may fetch one file in parallel, and how large a segment must be.
    public struct Segments: Sendable, Hashable, Codable {
        /// The greatest number of exchanges, each on its own connection: 1 to `limit`.
        public var count: Int
        /// The least number of bytes in a segment. A file of less than twice as many is fetched by one exchange.
        public var minimumLength: Int

        /// The greatest number of exchanges for one file.
        public static let limit = 16
        /// The default of `minimumLength`: 8 MiB.
        public static let defaultMinimum = 8 << 20

        public init(_ count: Int, minimumLength: Int = Segments.defaultMinimum) {
            self.count = count
            self.minimumLength = minimumLength
        }

        /// Throws a `NetworkError` with code `invalidConfiguration` for numbers out of range.
        func validate() throws {
            if let problem { throw NetworkError(.invalidConfiguration, problem) }
        }

        var problem: String? {
            guard (1...Self.limit).contains(count) else {
                return "segments.count must be 1 to \(Self.limit), not \(count)"
            }
            return minimumLength > 0 ? nil : "segments.minimumLength must be above zero, not \(minimumLength)"
        }
    }
}
