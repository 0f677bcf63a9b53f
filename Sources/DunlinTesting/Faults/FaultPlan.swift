internal import DunlinTypes

/// A plan of what goes wrong with which request, determined by a seed: the same plan gives the same answers.
///
/// ```swift
/// @Test(arguments: FaultPlan.plans(seeds: 0..<1000))
/// func `an order is placed once or fails cleanly`(plan: FaultPlan) async throws {
///     let clock = ManualClock()
///     let transport = MockTransport(clock: clock)
///     transport.apply(plan) { _ in .respond(.created, body: "order 7") }
///     try await plan.explaining {
///         try await clock.skippingWaits { try await sendOrder(over: transport) }
///     }
/// }
/// ```
///
/// With the mock, every wait is a sleep on its clock, and `ManualClock.skippingWaits` moves the clock to where the
/// first sleeper wakes, so a thousand plans with stalls and delays take only the time of their instructions. A failing
/// test prints its plan, and `FaultPlan(seed:)` with that seed repeats the failure. The same plan works with a
/// `LoopbackServer`, in real time and with real sockets.
public struct FaultPlan: Sendable, Hashable {
    public var seed: UInt64
    public var weights: Weights
    /// The number of bytes of a response before resets, truncations and stalls, and the number that a wrong length
    /// misses.
    public var bytes = 0...512
    /// The duration of delays.
    public var delays: ClosedRange<Duration> = .milliseconds(1)...(.milliseconds(50))
    /// The number of pieces of a drip.
    public var pieces = 2...32
    /// The pauses of a drip.
    public var pauses: ClosedRange<Duration> = .zero...(.milliseconds(2))

    /// The probability of each fault, relative to the sum of all weights. None may be negative.
    public struct Weights: Sendable, Hashable {
        public var none = 60
        public var refused = 4
        public var reset = 6
        public var truncated = 6
        public var stalled = 4
        public var dripping = 6
        public var delayed = 6
        public var unavailable = 4
        public var wrongLength = 4

        public init() {}

        /// Weights by which something goes wrong with every request.
        public static var always: Weights {
            var weights = Weights()
            weights.none = 0
            return weights
        }
    }

    public init(seed: UInt64, weights: Weights = Weights()) {
        self.seed = seed
        self.weights = weights
    }

    /// Returns one plan for each seed, as arguments for a test.
    public static func plans(seeds: Range<UInt64>, weights: Weights = Weights()) -> [FaultPlan] {
        seeds.map { FaultPlan(seed: $0, weights: weights) }
    }

    /// Returns the fault for a request, counted from 0 among all requests or those of one route. If requests overlap,
    /// only the count within a route is the same in every run.
    public func fault(for number: Int, of route: String? = nil) -> Fault {
        var generator = generator(number, route)
        let kinds = table
        var left = generator.next(below: kinds.reduce(0) { $0 + $1.weight })
        for kind in kinds {
            if left < kind.weight { return kind.make(&generator) }
            left -= kind.weight
        }
        return .none
    }

    private typealias Kind = (weight: Int, make: (inout SeededGenerator) -> Fault)

    private var table: [Kind] {
        [
            (weights.none, { _ in .none }),
            (weights.refused, { _ in .refused }),
            (weights.reset, { .reset(after: $0.next(in: bytes)) }),
            (weights.truncated, { .truncated(after: $0.next(in: bytes)) }),
            (weights.stalled, { .stalled(after: $0.next(in: bytes)) }),
            (weights.dripping, { .dripping(pieces: $0.next(in: pieces), every: $0.next(in: pauses)) }),
            (weights.delayed, { .delayed($0.next(in: delays)) }),
            (weights.unavailable, { _ in .unavailable }),
            (weights.wrongLength, { .wrongLength(missing: 1 + $0.next(in: bytes)) }),
        ]
    }

    /// A separate generator for each question, so that no answer depends on earlier questions.
    private func generator(_ number: Int, _ route: String?) -> SeededGenerator {
        var start = SeededGenerator.mixed(seed) ^ UInt64(truncatingIfNeeded: number)
        if let route { start = SeededGenerator.mixed(start) ^ LoopbackServer.BodyHash(Bytes(route)).value }
        return SeededGenerator(seed: SeededGenerator.mixed(start))
    }
}

extension FaultPlan: CustomStringConvertible {
    /// The plan as an expression that makes it again, except for changed ranges.
    public var description: String {
        switch weights {
        case Weights(): "FaultPlan(seed: \(seed))"
        case .always: "FaultPlan(seed: \(seed), weights: .always)"
        default: "FaultPlan(seed: \(seed), weights: \(weights))"
        }
    }
}

extension FaultPlan {
    /// Runs `operation`, and rethrows an error as one that names the plan.
    public func explaining<Value>(_ operation: () async throws -> Value) async throws -> Value {
        do {
            return try await operation()
        } catch {
            throw Failure(plan: self, underlying: error)
        }
    }

    /// What failed, and the plan.
    public struct Failure: Error, CustomStringConvertible {
        public let plan: FaultPlan
        public let underlying: any Error

        public var description: String { "\(plan): \(underlying)" }
    }
}

extension SeededGenerator {
    mutating func next(in range: ClosedRange<Duration>) -> Duration {
        let (low, high) = (range.lowerBound.clampedNanoseconds, range.upperBound.clampedNanoseconds)
        return .nanoseconds(next(in: Int(low)...Int(high)))
    }
}
