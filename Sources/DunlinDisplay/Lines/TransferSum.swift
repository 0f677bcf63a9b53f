/// What several transfers are at, all together.
package struct TransferSum: Equatable, Sendable {
    package var count: Int
    package var finished = 0
    package var failed = 0
    package var bytes = 0
    /// How much of all is done, from 0 to 1.
    package var fraction = 0.0
    /// The rate of the last seconds; nil until there is something to compare.
    package var bytesPerSecond: Double?

    package init(count: Int) { self.count = count }
}
