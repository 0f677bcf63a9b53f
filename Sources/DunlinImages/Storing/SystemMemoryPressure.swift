internal import Glibc  // a trigger is a file that is written to and polled, which no lower module offers

/// The kernel's reports about memory, read once a second by default: for the process's control group if it has one
/// (cgroup v2), otherwise for the machine.
///
/// It starts no thread and blocks none.
public struct SystemMemoryPressure: MemoryPressureSource {
    private let files: any PressureFiles
    private let interval: Duration
    private let clock: any Clock<Duration>

    public init(every interval: Duration = .seconds(1), clock: any Clock<Duration> = ContinuousClock()) {
        self.init(SystemPressureFiles(), every: interval, clock: clock)
    }

    init(_ files: any PressureFiles, every interval: Duration = .seconds(1), clock: any Clock<Duration>) {
        (self.files, self.interval, self.clock) = (files, interval, clock)
    }

    public func observe() -> AsyncStream<MemoryPressure> {
        let looks = PressureLooks(files)
        let (interval, clock) = (interval, clock)
        return AsyncStream {
            do {
                while true {
                    try await clock.sleep(for: interval)
                    if let pressure = await looks.look() { return pressure }
                }
            } catch {
                return nil
            }
        }
    }
}

/// One observation: its open files, and the last reading.
private actor PressureLooks {
    private let files: any PressureFiles
    private let folder: String?
    private let triggers: (some: any PressureTrigger, full: any PressureTrigger)?
    private var machine = PressureMachine()

    init(_ files: any PressureFiles) {
        self.files = files
        let folder = files.text("/proc/self/cgroup").flatMap(ControlGroup.folder)
        self.folder = folder
        // The kernel grants windows of two seconds to every process.
        let path = (folder ?? "") + "/memory.pressure"
        if folder != nil, let some = files.trigger(path, "some 200000 2000000"),
            let full = files.trigger(path, "full 100000 2000000")
        {
            triggers = (some, full)
        } else {
            triggers = nil
        }
    }

    func look() -> MemoryPressure? {
        var reading = PressureMachine.Reading()
        if let triggers {
            reading.triggers = (triggers.some.hasFired(), triggers.full.hasFired())
        } else if let folder, let events = files.text(folder + "/memory.events") {
            reading.events = events
            reading.current = files.text(folder + "/memory.current")
            reading.stat = files.text(folder + "/memory.stat")
            reading.high = files.text(folder + "/memory.high")
            reading.max = files.text(folder + "/memory.max")
        } else {
            reading.averages = files.text("/proc/pressure/memory")
        }
        return machine.take(reading)
    }
}

/// The kernel's files, or a test's.
protocol PressureFiles: Sendable {
    /// The text of a file; nil if it cannot be read.
    func text(_ path: String) -> String?
    /// Creates a trigger; nil if the kernel grants none.
    func trigger(_ path: String, _ rule: String) -> (any PressureTrigger)?
}

protocol PressureTrigger: AnyObject, Sendable {
    /// Returns whether it has fired since the last call.
    func hasFired() -> Bool
}

private struct SystemPressureFiles: PressureFiles {
    func text(_ path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        // None of these files is longer.
        var bytes = [UInt8](repeating: 0, count: 16 << 10)
        let count = read(descriptor, &bytes, bytes.count)
        return count > 0 ? String(decoding: bytes[..<count], as: UTF8.self) : nil
    }

    func trigger(_ path: String, _ rule: String) -> (any PressureTrigger)? {
        let descriptor = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        let trigger = SystemTrigger(descriptor)
        let bytes = Array(rule.utf8CString)
        return write(descriptor, bytes, bytes.count) == bytes.count ? trigger : nil
    }
}

/// A trigger, which lasts while its file is open.
private final class SystemTrigger: PressureTrigger {
    private let descriptor: Int32

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    func hasFired() -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLPRI), revents: 0)
        // The kernel remembers events until somebody polls; this does not wait.
        return poll(&entry, 1, 0) > 0 && entry.revents & Int16(POLLPRI) != 0 && entry.revents & Int16(POLLERR) == 0
    }
}
