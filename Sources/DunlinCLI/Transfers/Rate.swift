import Dunlin
import DunlinCommandLine

/// The most bytes a second, as `--limit-rate` gives it: 200K is 200 times 1024.
struct Rate: Equatable, Sendable {
    let bytesPerSecond: Int

    init(_ bytesPerSecond: Int) { self.bytesPerSecond = max(1, bytesPerSecond) }

    init(_ text: String) throws(UsageError) {
        let number = text.prefix { !$0.isLetter }
        let units: [String: Double] = ["": 1, "b": 1, "k": 0x1p10, "m": 0x1p20, "g": 0x1p30, "t": 0x1p40]
        let unit = units[text[number.endIndex...].lowercased()] ?? 0
        guard let count = Double(number), case let rate = count * unit, rate >= 1, rate < 1e15
        else {
            throw UsageError(
                description: "--limit-rate needs bytes a second, such as 5000, 200K or 1.5M, not \"\(text)\"")
        }
        bytesPerSecond = Int(rate)
    }

    /// How long so many bytes take.
    func time(of count: Int) -> Duration { .seconds(Double(count) / Double(bytesPerSecond)) }

    /// The pauses of a body that is sent: ten packets a second, if they are not too large.
    var throttle: RequestBody.Throttle {
        let size = min(max(1, bytesPerSecond / 10), 64 * 1024)
        return .init(packetSize: size, delay: time(of: size))
    }
}

/// Lets bytes pass at a rate, all readers together.
actor Pace {
    private let rate: Rate
    /// When what has passed is paid for.
    private var next = ContinuousClock.now

    init(_ rate: Rate) { self.rate = rate }

    /// Returns when so many bytes may have passed, or when the task is cancelled.
    func wait(for count: Int) async {
        next = max(next, .now) + rate.time(of: count)
        // Whoever is cancelled reads no further.
        do { try await Task.sleep(until: next, clock: .continuous) } catch { return }
    }
}
