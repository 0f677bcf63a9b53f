import DunlinTypes
import Testing

@testable import DunlinSession

@Suite struct `Refresh machine` {
    /// A machine by seconds, that says in words what it decides.
    private final class Scene {
        private struct Lost: Error {}

        private var machine: RefreshMachine<String, Int>
        private var last: UInt64?

        init(_ first: String? = nil, lifetime: Int64? = nil, chance: UInt64 = 0) {
            let nanoseconds = lifetime.map { $0 * 1_000_000_000 }
            machine = RefreshMachine(first, lifetime: nanoseconds, chance: chance, at: Self.at(0))
        }

        private static func at(_ seconds: Double) -> HTTP.Instant {
            HTTP.Instant(nanoseconds: Int64(seconds * 1_000_000_000))
        }

        func ask(_ seconds: Double, as waiter: Int = 0, mayWait: Bool = true) -> String {
            switch machine.ask(waiter, mayWait: mayWait, at: Self.at(seconds)) {
            case .use(let held):
                last = held.number
                return "use \(held.credential)"
            case .useAndRefresh(let held, let number): return "use \(held.credential), refresh #\(number)"
            case .wait(_, let waiter, let begins): return "wait \(waiter)" + (begins.map { ", begin #\($0)" } ?? "")
            case .mustNotWait: return "must not wait"
            case .fail: return "fail"
            }
        }

        /// The credential that was used last, or this one, is refused.
        func refuse(_ seconds: Double, _ number: UInt64? = nil) -> String {
            switch machine.refused(number ?? last ?? 1, at: Self.at(seconds)) {
            case .sendAgain(let wasGood): wasGood ? "sendAgain, it was good" : "sendAgain"
            case .sendWithNewer: "sendWithNewer"
            case .deliver(.neverAccepted): "deliver, never accepted"
            case .deliver(.resting): "deliver"
            case .deliver(let why): "deliver, \(why)"
            }
        }

        func accept() { machine.accepted(last ?? 1) }

        func refresh(_ credential: String, _ seconds: Double, lifetime: Int64? = nil) -> [Int] {
            let nanoseconds = lifetime.map { $0 * 1_000_000_000 }
            return machine.refreshed(credential, lifetime: nanoseconds, chance: 0, at: Self.at(seconds)).waiters
                .sorted()
        }

        func fail(_ number: UInt64, _ seconds: Double, askedNobody: Bool = false) -> Int {
            machine.failed(Lost(), number, askedNobody: askedNobody, at: Self.at(seconds)).count
        }

        func leave(_ waiter: UInt64) { machine.left(waiter) }
    }

    @Test func `a refresh that reached no server is followed by no rest`() {
        let scene = Scene()
        for number in 1...3 as ClosedRange<UInt64> {
            #expect(scene.ask(0) == "wait \(number), begin #\(number)")
            #expect(scene.fail(number, 0, askedNobody: true) == 1)
        }
        #expect(scene.ask(0) == "wait 4, begin #4" && scene.fail(4, 0) == 1 && scene.ask(0.5) == "fail")
    }

    @Test func `who may not wait gets a credential that was not refused, and may begin a refresh`() {
        let scene = Scene()
        #expect(scene.ask(0, mayWait: false) == "wait 1, begin #1")
        #expect(scene.ask(0, mayWait: false) == "must not wait")
        #expect(scene.refresh("a", 1) == [0] && scene.ask(2) == "use a")
        scene.accept()
        #expect(scene.refuse(3) == "sendAgain, it was good")
        #expect(scene.ask(3) == "wait 2, begin #2" && scene.ask(3, mayWait: false) == "must not wait")
        #expect(scene.refresh("b", 4) == [0] && scene.ask(4, mayWait: false) == "use b")
    }

    @Test func `one refresh serves all who ask meanwhile`() {
        let scene = Scene()
        #expect(scene.ask(0, as: 7) == "wait 1, begin #1")
        #expect(scene.ask(1, as: 8) == "wait 2")
        #expect(scene.refresh("a", 2) == [7, 8])
        #expect(scene.ask(1e9) == "use a")
    }

    @Test func `a request refused with an older credential goes on with the newer one`() {
        let scene = Scene("a")
        #expect(scene.refuse(1, 1) == "sendAgain")
        #expect(scene.ask(1) == "wait 1, begin #1")
        #expect(scene.refresh("b", 2) == [0])
        #expect(scene.refuse(3, 1) == "sendWithNewer")
        #expect(scene.ask(3) == "use b")
    }

    @Test func `a refreshed credential that is refused at once is not refreshed again for a while`() {
        let scene = Scene()
        #expect(scene.ask(0) == "wait 1, begin #1")
        var now = 0.0
        for (index, pause) in [1.0, 2, 4, 8, 16, 32, 60, 60].enumerated() {
            #expect(scene.refresh("x", now) == [0])
            #expect(scene.ask(now) == "use x")
            #expect(scene.refuse(now) == "deliver, never accepted")
            #expect(scene.ask(now + pause - 0.001) == "use x")
            #expect(scene.refuse(now + pause - 0.001) == "deliver")
            now += pause
            #expect(scene.refuse(now) == "sendAgain")
            #expect(scene.ask(now) == "wait \(index + 2), begin #\(index + 2)")
        }
    }

    @Test func `a credential that was accepted before it is refused is refreshed at once`() {
        let scene = Scene()
        #expect(scene.ask(0) == "wait 1, begin #1")
        for number in 2..<10 {
            #expect(scene.refresh("x", 0) == [0])
            #expect(scene.ask(0) == "use x")
            scene.accept()
            #expect(scene.refuse(0) == "sendAgain, it was good")
            #expect(scene.ask(0) == "wait \(number), begin #\(number)")
        }
    }

    @Test func `a failed refresh fails all who wait, and all who come before the next may begin`() {
        let scene = Scene()
        for waiter in 1...3 { #expect(scene.ask(0).hasPrefix("wait \(waiter)")) }
        #expect(scene.fail(1, 5) == 3)
        for time in [5, 5.999] { #expect(scene.ask(time) == "fail") }
        #expect(scene.ask(6) == "wait 4, begin #2")
        #expect(scene.fail(2, 6) == 1)
        #expect(scene.ask(7.999) == "fail")
        #expect(scene.ask(8) == "wait 5, begin #3")
    }

    /// One refresh may be followed by two rests: it was given up, and what it brought later was refused.
    @Test func `each rest counts, whatever began it, and none but a good first verdict ends the count`() {
        let scene = Scene()
        #expect(scene.ask(0) == "wait 1, begin #1")
        #expect(scene.fail(1, 0) == 1 && scene.ask(0.5) == "fail")
        #expect(scene.refresh("late", 0.5) == [])
        #expect(scene.ask(0.5) == "use late" && scene.refuse(0.5) == "deliver, never accepted")
        #expect(scene.refuse(2.499) == "deliver" && scene.refuse(2.5) == "sendAgain")
        #expect(scene.ask(2.5) == "wait 2, begin #2")
        #expect(scene.fail(2, 2.5) == 1 && scene.ask(6.4) == "fail" && scene.ask(6.5) == "wait 3, begin #3")
        #expect(scene.refresh("good", 6.5) == [0] && scene.ask(6.5) == "use good")
        scene.accept()
        #expect(scene.refuse(7) == "sendAgain, it was good" && scene.ask(7) == "wait 4, begin #4")
        #expect(scene.fail(4, 7) == 1 && scene.refuse(7.999) == "deliver" && scene.ask(8) == "wait 5, begin #5")
    }

    /// Requests that fail in a rest have asked nobody: however many, they make no rest longer.
    @Test func `a request during a rest neither begins a refresh nor prolongs the rest`() {
        let scene = Scene()
        #expect(scene.ask(0) == "wait 1, begin #1" && scene.fail(1, 0) == 1)
        for _ in 0..<100 { #expect(scene.ask(0.999) == "fail") }
        #expect(scene.ask(1) == "wait 2, begin #2" && scene.fail(2, 1) == 1)
        #expect(scene.ask(2.999) == "fail" && scene.ask(3) == "wait 3, begin #3")
    }

    /// What a server gave for an old credential must not be lost.
    @Test func `a refresh goes on when those who wait have left`() {
        let scene = Scene()
        #expect(scene.ask(0, as: 7) == "wait 1, begin #1" && scene.ask(0, as: 8) == "wait 2")
        for waiter in [1, 2, 2, 9] as [UInt64] { scene.leave(waiter) }
        #expect(scene.ask(0, as: 9) == "wait 3")
        #expect(scene.fail(7, 0) == 0)
        #expect(scene.refresh("a", 3) == [9])
        #expect(scene.ask(3) == "use a")
    }

    /// A service that gives credentials without a lifetime left is not asked for more of them without end.
    @Test(arguments: [0, -5]) func `a credential that has already expired when it is fetched is used for a second`(
        lifetime: Int64
    ) {
        let scene = Scene()
        #expect(scene.ask(0) == "wait 1, begin #1")
        #expect(scene.refresh("a", 0, lifetime: lifetime) == [0])
        for time in [0, 0.999] { #expect(scene.ask(time) == "use a") }
        #expect(scene.ask(1) == "wait 2, begin #2")
    }

    /// One endpoint may refuse whatever comes, while others accept.
    @Test func `an acceptance does not end the rest that a refusal of a new credential began`() {
        let scene = Scene("a")
        #expect(scene.refuse(0, 1) == "sendAgain")
        #expect(scene.ask(0) == "wait 1, begin #1")
        #expect(scene.refresh("b", 0) == [0])
        #expect(scene.ask(0) == "use b" && scene.refuse(0) == "deliver, never accepted")
        #expect(scene.ask(0) == "use b")
        scene.accept()
        #expect(scene.ask(0.5) == "use b" && scene.refuse(0.5) == "deliver" && scene.ask(0.9) == "use b")
        #expect(scene.refuse(1) == "sendAgain, it was good")
        #expect(scene.ask(1) == "wait 2, begin #2")
        #expect(scene.refresh("c", 1) == [0])
        #expect(scene.ask(1) == "use c" && scene.refuse(1) == "deliver, never accepted")
        #expect(scene.refuse(2.9) == "deliver" && scene.refuse(3) == "sendAgain")
    }

    /// Lifetime in seconds; chance; when it is refreshed ahead.
    @Test(
        arguments: [(100, 0, 90), (100, .max, 80), (3600, 0, 3540), (3600, .max, 3480), (3600, .max / 2, 3510)]
            as [(Int64, UInt64, Double)])
    func `a credential is refreshed ahead while it is still used`(lifetime: Int64, chance: UInt64, ahead: Double) {
        let scene = Scene("a", lifetime: lifetime, chance: chance)
        #expect(scene.ask(ahead - 0.01) == "use a")
        #expect(scene.ask(ahead + 0.01) == "use a, refresh #1")
        #expect(scene.ask(ahead + 0.02) == "use a")
        #expect(scene.ask(Double(lifetime)) == "wait 1")
    }

    @Test(arguments: [0, -1, .min / 1_000_000_000] as [Int64])
    func `a credential without a lifetime left is refreshed before it is used`(lifetime: Int64) {
        #expect(Scene("a", lifetime: lifetime, chance: .max).ask(0) == "wait 1, begin #1")
    }

    @Test func `a refresh ahead that failed is no error before the credential has expired`() {
        let scene = Scene("a", lifetime: 100)
        #expect(scene.ask(95) == "use a, refresh #1")
        #expect(scene.fail(1, 99.5) == 0)
        #expect(scene.ask(99.9) == "use a")
        #expect(scene.ask(100) == "fail")
        #expect(scene.ask(100.5) == "wait 1, begin #2")
    }
}
