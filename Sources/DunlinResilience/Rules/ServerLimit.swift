internal import DunlinTypes

/// What is known of a server's limit, and how it is kept.
///
/// Rules:
/// 1. Until the reset, only so many requests go as the server said remain. Each that goes takes one, so several under
///    way together do not take the same one. Within a window a smaller number replaces a larger one, not the reverse;
///    a number that rises shows that the server has begun another window, or that it counts without windows.
/// 2. If nothing remained at the reset, requests are paced from then on: they go one by one, in intervals in which all
///    who share the limit stay within it. What share of the requests was this client's, it knows from the number of its
///    own that were served. The first goes at a random point within the first interval. So many clients that wait for
///    one reset do not all come at once. When the server says how much remains, the pace follows. It ends with the
///    window after the reset, or later, when none waits any more.
/// 3. A server that asks for silence gets it. After that the first request goes at a random point within a quarter of
///    the silence, or within the interval, if that is known and longer.
/// 4. Nothing that is said reaches further than an hour. Numbers that cannot be true are ignored.
struct ServerLimit: Sendable {
    static let longest: Int64 = 3_600_000_000_000
    private static let longestSpread: Int64 = 10_000_000_000
    /// A client that has sent little, since it has just begun, is not kept from a long window for good.
    private static let longestInterval: Int64 = 60_000_000_000

    private struct Window {
        var left: Int
        /// What the server said last.
        var said: Int
        let reset: HTTP.Instant
        /// How the next window is paced, if nothing is left in this one, and how long it is.
        var next: TokenBucket
        var length: Int64
        /// How much of the quota was used, by all.
        var used: Int
    }

    private var window: Window?
    /// Until when nothing goes, though something remains.
    private var silentUntil = HTTP.Instant(nanoseconds: 0)
    private var pace: (bucket: TokenBucket, until: HTTP.Instant)?
    /// This client's share of what was served until the last reset that left nothing.
    private var share = 1.0
    /// How many requests went since the last reset, but for those to which the server answered by asking for silence.
    private var sent = 0
    private var quota: Int?
    private var length: Int64?

    /// Creates a limit of which nothing is known, though so many requests went.
    init(sent: Int = 0) { self.sent = sent }

    /// When the request after so many others may go.
    func time(after others: Int, at now: HTTP.Instant) -> HTTP.Instant {
        var time = max(now, silentUntil)
        if let pace { time = max(time, pace.bucket.time(after: others, at: now)) }
        guard let window, others >= window.left else { return time }
        return max(time, window.next.time(after: others - window.left, at: max(now, window.reset)))
    }

    /// Forgets what is over. `isAwaited`: requests wait.
    mutating func pass(to now: HTTP.Instant, isAwaited: Bool) {
        if let window, window.reset <= now {
            if window.left == 0 {
                share = currentShare(of: window.used)
                pace = (window.next, window.reset.advanced(by: window.length))
            }
            self.window = nil
            sent = 0
        }
        if let pace, pace.until <= now, !isAwaited { self.pace = nil }
    }

    /// Whether nothing that was said is in force any more.
    func isIdle(at now: HTTP.Instant) -> Bool {
        var later = self
        later.pass(to: now, isAwaited: false)
        return later.window == nil && later.pace == nil && silentUntil <= now
    }

    mutating func take(at now: HTTP.Instant) {
        sent = sent.addingClamped(1)
        pace?.bucket.take(at: now)
        if let left = window?.left { window?.left = max(0, left - 1) }
    }

    /// Takes what the server said. `chance` is random, and decides when the first request after a reset goes.
    mutating func learned(_ limit: LearnedLimit, _ chance: UInt64, at now: HTTP.Instant) {
        // It did not serve this one.
        if limit.silence != nil { sent = max(0, sent - 1) }
        if let quota = limit.quota, quota > 0 { self.quota = quota }
        if let length = limit.window.flatMap(Self.nanoseconds) { self.length = length }
        if let reset = limit.reset.flatMap(Self.nanoseconds), let remaining = limit.remaining, remaining >= 0,
            remaining <= limit.quota ?? .max
        {
            remains(remaining, reset, chance, at: now)
        }
        if let silence = limit.silence.flatMap(Self.nanoseconds) { beSilent(silence, chance, at: now) }
    }

    /// The duration up to the longest; nil if there is none.
    private static func nanoseconds(_ duration: Duration) -> Int64? {
        duration > .zero ? min(duration.clampedNanoseconds, longest) : nil
    }
}

extension ServerLimit {
    private mutating func remains(_ remaining: Int, _ reset: Int64, _ chance: UInt64, at now: HTTP.Instant) {
        let until = now.advanced(by: reset)
        var left = remaining
        if let window {
            // Who asked for silence meant it.
            if window.said == 0, window.reset > until { return }
            if remaining < window.said { left = min(window.left, remaining) }
        }
        let length = length ?? reset
        let used = (quota ?? remaining) - remaining
        let interval = interval(currentShare(of: used), quota ?? 1, length)
        let start = until.advanced(by: Self.part(of: interval, chance))
        window = Window(
            left: left, said: remaining, reset: until, next: TokenBucket(interval: interval, from: start),
            length: length, used: used)
        let pacing = self.interval(share, remaining, reset)
        if remaining > 0 { pace?.bucket.interval = pacing }
    }

    private mutating func beSilent(_ silence: Int64, _ chance: UInt64, at now: HTTP.Instant) {
        let until = now.advanced(by: silence)
        // A reset that is later says when more is allowed.
        if let window, window.left == 0, window.reset >= until { return }
        if let window, window.left > 0, window.reset > until {
            // What remains of the window still does after the silence.
            let spread = min(silence / 4, Self.longestSpread)
            return silentUntil = until.advanced(by: Self.part(of: spread, chance))
        }
        let length = length ?? silence
        let used = quota ?? 0
        let interval = used > 0 ? self.interval(currentShare(of: used), used, length) : 0
        let spread = min(max(interval, silence / 4), Self.longestSpread)
        let start = until.advanced(by: Self.part(of: spread, chance))
        window = Window(
            left: 0, said: 0, reset: until, next: TokenBucket(interval: interval, from: start), length: length,
            used: used)
    }

    /// This client's part of what all have used since the last reset; it may always have one.
    private func currentShare(of used: Int) -> Double { min(1, Double(max(1, sent)) / Double(max(1, used))) }

    /// The time between two requests of this client, if it takes its share of so many in this time.
    private func interval(_ share: Double, _ count: Int, _ time: Int64) -> Int64 {
        Int64(min(Double(time), Double(Self.longestInterval), Double(time) / (Double(max(1, count)) * share)))
    }

    private static func part(of time: Int64, _ chance: UInt64) -> Int64 {
        Int64(chance.multipliedFullWidth(by: UInt64(max(0, time))).high)
    }
}
