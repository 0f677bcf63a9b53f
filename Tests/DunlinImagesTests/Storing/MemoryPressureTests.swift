import DunlinTesting
import LedgerRows
import Synchronization
import Testing

@testable import DunlinImages

@Suite(.timeLimit(.minutes(10))) struct `Memory pressure` {
    private typealias Reading = PressureMachine.Reading

    @Test(
        .rows("IC-9"),
        arguments: [
            (false, false, nil), (true, false, .some), (true, true, .critical), (false, true, .critical),
        ] as [(Bool, Bool, MemoryPressure?)])
    func `memory pressure is reported when a trigger has fired`(some: Bool, full: Bool, pressure: MemoryPressure?) {
        var machine = PressureMachine()
        let averages = "some avg10=99.00 avg60=0.00 avg300=0.00 total=0\n"
        // Nothing else counts beside it.
        let told = machine.take(Reading(triggers: (some, full), averages: averages))
        #expect(told == pressure)
    }

    @Test func `only events since the last look count as memory pressure`() {
        var machine = PressureMachine()
        func look(_ high: Int, _ max: Int, _ oom: Int) -> MemoryPressure? {
            machine.take(Reading(events: "low 0\nhigh \(high)\nmax \(max)\noom \(oom)\noom_kill 0\n"))
        }
        #expect(look(5, 5, 5) == nil)
        #expect(look(5, 5, 5) == nil)
        #expect(look(6, 5, 5) == .some)
        #expect(look(6, 6, 5) == .some)
        #expect(look(6, 6, 6) == .critical)
        #expect(look(6, 6, 6) == nil)
    }

    @Test(
        arguments: [
            ("900", "max", "1000", "inactive_file 0\n", .some), ("899", "max", "1000", nil, nil),
            ("970", "max", "1000", "", .critical), ("970", "1000", "2000", nil, .critical),
            ("999", "max", "max", nil, nil), ("999", "max", "1000", "anon 1\ninactive_file 500\n", nil),
            ("x", "max", "1000", nil, nil), ("999", "0", "0", nil, nil), ("10", "max", "99", "inactive_file 90\n", nil),
        ] as [(String, String, String, String?, MemoryPressure?)])
    func `usage counts against the lower limit, without pages that nobody needs`(
        current: String, high: String, max: String, stat: String?, pressure: MemoryPressure?
    ) {
        var machine = PressureMachine()
        let reading = Reading(
            events: "high 0\n", current: current + "\n", stat: stat, high: high + "\n", max: max + "\n")
        let told = machine.take(reading)
        #expect(told == pressure)
    }

    @Test(
        arguments: [
            ("some avg10=0.00 avg60=0 avg300=0 total=1\nfull avg10=0.00 avg60=0 avg300=0 total=0", nil),
            ("some avg10=10.00 avg60=0 avg300=0 total=1\nfull avg10=9.99 avg60=0 avg300=0 total=0", .some),
            ("some avg10=20.00 total=1\nfull avg10=12.50 total=0", .critical), ("", nil), ("some\nfull avg10=x", nil),
        ] as [(String, MemoryPressure?)])
    func `without a control group the machine's averages count`(text: String, pressure: MemoryPressure?) {
        var machine = PressureMachine()
        let told = machine.take(Reading(averages: text))
        #expect(told == pressure)
    }

    @Test(
        arguments: [
            ("0::/\n", "/sys/fs/cgroup"), ("0::/user.slice/a\n", "/sys/fs/cgroup/user.slice/a"),
            ("12:memory:/x\n0::/y\n", "/sys/fs/cgroup/y"), ("12:memory:/x\n", nil), ("0::/../x\n", nil),
            ("0::/gone (deleted)\n", nil), ("", nil),
        ] as [(String, String?)])
    func `the control group is where the kernel says`(text: String, folder: String?) {
        #expect(ControlGroup.folder(text) == folder)
    }

    @Test func `a look a second is all there is, and triggers are let go of with the observation`() async throws {
        let (files, clock) = (PressureFolder(), ManualClock())
        files.isTriggering.withLock { $0 = true }
        let source = SystemMemoryPressure(files, every: .seconds(1), clock: clock)
        let told = Mutex([MemoryPressure]())
        let task = Task {
            for await pressure in source.observe() { told.withLock { $0.append(pressure) } }
        }
        for (fired, level) in [(true, 1), (false, 1), (true, 2)] {
            try await clock.waitForSleepers(1)
            files.hasFired.withLock { $0 = fired }
            try await clock.advance(by: .seconds(1))
            try await eventually("it looked") { told.withLock { $0.count } == level }
        }
        #expect(files.triggers.withLock { $0.count } == 2)
        task.cancel()
        await task.value
        try await eventually("the triggers are closed") { files.open.withLock { $0 } == 0 }
    }

    @Test func `the kernel of this machine is read without harm`() async throws {
        let clock = ManualClock()
        let task = Task {
            for await _ in SystemMemoryPressure(every: .seconds(1), clock: clock).observe() {}
        }
        try await clock.waitForSleepers(1)
        try await clock.advance(by: .seconds(1))
        try await clock.waitForSleepers(1)
        task.cancel()
        await task.value
    }
}

/// Files that a test makes up.
private final class PressureFolder: PressureFiles {
    let isTriggering = Mutex(false)
    let hasFired = Mutex(false)
    let triggers = Mutex([String]())
    let open = Mutex(0)

    func text(_ path: String) -> String? { path == "/proc/self/cgroup" ? "0::/a\n" : nil }

    func trigger(_ path: String, _ rule: String) -> (any PressureTrigger)? {
        guard isTriggering.withLock(\.self), path == "/sys/fs/cgroup/a/memory.pressure" else { return nil }
        triggers.withLock { $0.append(rule) }
        return Trigger(self)
    }

    private final class Trigger: PressureTrigger {
        private let folder: PressureFolder

        init(_ folder: PressureFolder) {
            self.folder = folder
            folder.open.withLock { $0 += 1 }
        }

        deinit { folder.open.withLock { $0 -= 1 } }

        func hasFired() -> Bool { folder.hasFired.withLock(\.self) }
    }
}
