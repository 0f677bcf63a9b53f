import Testing

@testable import DunlinTesting

@Suite struct SleepMachineTests {
    @Test func `sleepers are woken when their time has come, the earliest first`() {
        var machine = SleepMachine<String>()
        for (name, seconds) in [("late", 3), ("early", 1), ("middle", 2), ("never", 9)] {
            let id = machine.begin()
            #expect(outcome(machine.sleep(id, until: .seconds(seconds), at: .zero, name)) == "sleep")
        }
        #expect(machine.wake(at: .milliseconds(999)) == [])
        #expect(machine.wake(at: .seconds(3)) == ["early", "middle", "late"])
        #expect(machine.count == 1)
    }

    @Test(arguments: [Duration.zero, .seconds(1)])
    func `whoever comes at its time or later does not sleep`(deadline: Duration) {
        var machine = SleepMachine<String>()
        let id = machine.begin()
        #expect(outcome(machine.sleep(id, until: deadline, at: .seconds(1), "a")) == "wake a false")
        #expect(machine.isEmpty)
    }

    @Test func `a cancel before the sleep, during it and after it leaves nothing behind`() {
        var machine = SleepMachine<String>()
        let before = machine.begin()
        #expect(machine.cancel(before) == nil)
        #expect(outcome(machine.sleep(before, until: .seconds(1), at: .zero, "before")) == "wake before true")
        let during = machine.begin()
        _ = machine.sleep(during, until: .seconds(1), at: .zero, "during")
        #expect(machine.cancel(during) == "during")
        let after = machine.begin()
        _ = machine.sleep(after, until: .seconds(1), at: .zero, "after")
        #expect(machine.wake(at: .seconds(1)) == ["after"])
        #expect(machine.cancel(after) == nil)
        #expect(machine.isEmpty)
    }

    private func outcome(_ action: SleepMachine<String>.Action) -> String {
        switch action {
        case .sleep: "sleep"
        case .wake(let sleeper, let isCancelled): "wake \(sleeper) \(isCancelled)"
        }
    }
}
