import Dunlin
import DunlinRules
import DunlinTypes
import LedgerRows
import Testing

@testable import DunlinSession
@testable import DunlinTransport

@Suite struct `Rate meter` {
    private static func time(_ seconds: Double) -> HTTP.Instant {
        HTTP.Instant(nanoseconds: Int64(seconds * 1e9))
    }

    @Test func `a rate is unknown before something has moved for a tenth of a second`() {
        var meter = RateMeter()
        for (at, count) in [(0.0, 0), (60, 0), (61, 100), (61, 150), (61.05, 1000)] {
            meter.note(count, at: Self.time(at))
            #expect(meter.rate == nil)
        }
        meter.note(1100, at: Self.time(62))
        #expect(meter.rate == 1000)
    }

    @Test func `neither a wait in a queue nor what was there before counts`() {
        var meter = RateMeter()
        for (at, count) in [(0.0, 1_000_000), (100, 1_000_100), (101, 1_000_600)] {
            meter.note(count, at: Self.time(at))
        }
        #expect(meter.rate == 500)
    }

    @Test func `the rate of a steady transfer is right, whatever the steps`() {
        var meter = RateMeter()
        for (at, count) in [(0.0, 0), (0.1, 100), (0.5, 500), (3.5, 3500), (3.6, 3600)] {
            meter.note(count, at: Self.time(at))
        }
        #expect(meter.rate.map { abs($0 - 1000) < 0.001 } == true)
    }

    @Test func `a burst at the beginning is forgotten after seconds`() throws {
        var meter = RateMeter()
        meter.note(0, at: Self.time(0))
        meter.note(1, at: Self.time(0))
        for hundredth in 1...1000 {
            meter.note(100_000 + hundredth * 10, at: Self.time(Double(hundredth) / 100))
            if hundredth == 10 { #expect(try #require(meter.rate) > 900_000) }
        }
        #expect(try #require(meter.rate).rounded() == 1000)
    }

    @Test func `what is older than the window does not count after a stall`() throws {
        var meter = RateMeter()
        meter.note(0, at: Self.time(0))
        for tenth in 1...10 { meter.note(tenth * 1000, at: Self.time(Double(tenth) / 10)) }
        for tenth in 1...15 { meter.note(10_000 + tenth * 1000, at: Self.time(60 + Double(tenth) / 10)) }
        // 15 of the last 30 tenths.
        #expect(abs(try #require(meter.rate) - 5000) < 400)
    }

    @Test func `a rate follows a change within seconds and does not jump with one step`() throws {
        var meter = RateMeter()
        meter.note(0, at: Self.time(0))
        meter.note(1, at: Self.time(0))
        meter.note(1000, at: Self.time(1))
        meter.note(1000, at: Self.time(1.1))
        let soon = try #require(meter.rate)
        #expect(soon > 900)
        for tenth in 12...150 { meter.note(1000, at: Self.time(Double(tenth) / 10)) }
        #expect(meter.rate == 0)
    }
}

@Suite struct `Progress of a transfer` {
    typealias Progress = HTTPSession.TransferProgress

    static let fractions: [(Progress, Double?, Duration?)] = [
        (Progress(), nil, nil),
        (Progress(totalBytes: 0), 0, .zero),
        (Progress(totalBytes: 0, isFinal: true), 1, .zero),
        (Progress(wireBytes: 1, totalBytes: 4), 0.25, nil),
        (Progress(wireBytes: 1, totalBytes: 4, bytesPerSecond: 2), 0.25, .seconds(1.5)),
        (Progress(wireBytes: 1, totalBytes: 4, bytesPerSecond: 0), 0.25, nil),
        (Progress(wireBytes: 1, totalBytes: .max, bytesPerSecond: 0.001), 0, nil),
        (Progress(wireBytes: 5, totalBytes: 4, bytesPerSecond: 2), 1, .zero),
        (Progress(wireBytes: 4, decodedBytes: 400, totalBytes: 4), 1, .zero),
    ]

    @Test(.rows("SM-30"), arguments: fractions) func `progress has a fraction and a time left if they can be known`(
        progress: Progress, fraction: Double?, timeLeft: Duration?
    ) {
        #expect(progress.fraction.map { ($0 * 100).rounded() } == fraction.map { ($0 * 100).rounded() })
        #expect(progress.timeLeft == timeLeft)
    }

    @Test(.rows("G-4", "SM-25", "SM-32", "AP-13", "VD-2"))
    func `progress is told at once, then when it differs, and at the end once`() {
        var reporter = ProgressReporter(.download)
        var tally = Tally()
        func tell(_ version: UInt64) -> Int? {
            reporter.tell(tally, version, at: HTTP.Instant(nanoseconds: Int64(version)))?.wireBytes
        }
        #expect(tell(0) == 0)
        tally.beginSending(7)
        tally.sent(7)
        #expect(tell(2) == nil)
        tally.beginReceiving(nil, isCoded: false)
        tally.received(upTo: 3)
        #expect(tell(4) == 3)
        #expect(tell(4) == nil)
        tally.end()
        #expect(tell(5) == 3)
        #expect(reporter.isOver)
    }
}

@Suite struct `Progress of a transfer in any numbers` {
    static let numbers: [Int] = [.max, .min, -1, 0, 1]

    @Test(arguments: numbers, numbers)
    func `progress in any numbers has a fraction from 0 to 1 and no negative time left`(bytes: Int, total: Int) {
        for rate in [nil, 0, -1, 1, .infinity, .nan, Double.leastNonzeroMagnitude, .greatestFiniteMagnitude] {
            for isFinal in [false, true] {
                let progress = HTTPSession.TransferProgress(
                    wireBytes: bytes, totalBytes: total, bytesPerSecond: rate, isFinal: isFinal)
                #expect(progress.fraction.map { (0...1).contains($0) } == true)
                #expect(progress.timeLeft.map { $0 >= .zero } ?? true)
            }
        }
    }
}
