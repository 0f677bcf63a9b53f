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
            if let problem { throw NetworkError(.invalidConfiguration, problem) }
        }

        var problem: String? {
            guard (1...Self.limit).contains(count) else { return "segments.count must be 1 to \(Self.limit)" }
            return minimumLength > 0 ? nil : "segments.minimumLength must be above zero"
        }
    }
}
