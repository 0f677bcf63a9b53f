extension HTTP {
    /// A set of status codes: `.success`, `.any`, `[200, 404]`, `StatusSet(200...399)`.
    public struct StatusSet: Sendable, Hashable {
        /// The ranges, sorted and neither overlapping nor adjacent.
        private(set) var ranges: [ClosedRange<Int>]

        init(ranges: [ClosedRange<Int>]) {
            self.ranges = ranges
        }

        public init(_ range: ClosedRange<Int>) {
            ranges = [range]
        }

        /// All statuses 2xx.
        public static let success = StatusSet(200...299)
        public static let any = StatusSet(0...65_535)
        public static let none = StatusSet(ranges: [])

        public func contains(_ status: HTTP.Status) -> Bool {
            ranges.contains { $0.contains(status.code) }
        }

        public func union(_ other: StatusSet) -> StatusSet {
            var united: [ClosedRange<Int>] = []
            for range in (ranges + other.ranges).sorted(by: { $0.lowerBound < $1.lowerBound }) {
                guard let last = united.last,
                    range.lowerBound <= last.upperBound || range.lowerBound - 1 == last.upperBound
                else {
                    united.append(range)
                    continue
                }
                united[united.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
            }
            return StatusSet(ranges: united)
        }
    }
}

extension HTTP.StatusSet: ExpressibleByArrayLiteral {
    public init(arrayLiteral statuses: HTTP.Status...) {
        self = statuses.reduce(.none) { $0.union(Self($1.code...$1.code)) }
    }
}

extension HTTP.StatusSet: Codable {
    /// Encodes the ranges as pairs of first and last.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(ranges.map { [$0.lowerBound, $0.upperBound] })
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        self = try container.decode([[Int]].self).reduce(.none) { set, pair in
            guard pair.count == 2, pair[0] <= pair[1] else {
                throw DecodingError.dataCorruptedError(
                    in: container,
                    debugDescription: "a range of statuses needs two values, the first and the last status")
            }
            return set.union(Self(pair[0]...pair[1]))
        }
    }
}
