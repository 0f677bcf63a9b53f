extension HTTPSession {
    /// How many exchanges may fetch one file side by side, and how large a segment must be.
    public struct Segments: Sendable, Hashable, Codable {
        /// How many exchanges there may be, each on a connection of its own: 1 to `limit`.
        public var count: Int
        /// The least bytes of a segment. A file of less than twice as many is fetched by one exchange.
        public var minimumLength: Int

        /// The most exchanges that one file may have.
        public static let limit = 16
        /// 8 MiB.
        public static let defaultMinimum = 8 << 20

        public init(_ count: Int, minimumLength: Int = Segments.defaultMinimum) {
            self.count = count
            self.minimumLength = minimumLength
        }

        /// Throws `NetworkError` code `invalidConfiguration` for numbers out of range.
        func validate() throws {
            if let problem { throw NetworkError(.invalidConfiguration, problem) }
        }

        var problem: String? {
            guard (1...Self.limit).contains(count) else { return "segments.count must be 1 to \(Self.limit)" }
            return minimumLength > 0 ? nil : "segments.minimumLength must be above zero"
        }
    }
}
