extension HTTPSession {
    /// How many exchanges may bring one file side by side, and what is too small for that.
    public struct Segments: Sendable, Hashable, Codable {
        /// How many exchanges at most, each on a connection of its own: 1 to `limit`.
        public var count: Int
        /// What an exchange of its own must be worth, in bytes. A file of less than twice as many is brought by one.
        public var minimumLength: Int

        /// The most exchanges that one file may have.
        public static let limit = 16
        /// 8 MiB.
        public static let defaultMinimum = 8 << 20

        public init(_ count: Int, minimumLength: Int = Segments.defaultMinimum) {
            self.count = count
            self.minimumLength = minimumLength
        }

        /// Throws `NetworkError` code `invalidConfiguration` for numbers that cannot be.
        func validate() throws {
            guard (1...Self.limit).contains(count) else {
                throw NetworkError(.invalidConfiguration, "segments.count must be 1 to \(Self.limit)")
            }
            guard minimumLength > 0 else {
                throw NetworkError(.invalidConfiguration, "segments.minimumLength must be above zero")
            }
        }
    }
}
