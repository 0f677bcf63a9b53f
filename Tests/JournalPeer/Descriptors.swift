import Dispatch
import Dunlin
import Glibc
import Synchronization

/// What a process does that has no descriptors left, or not those that every process begins with.
enum Descriptors {
    /// Asks for a name while nothing can be opened, and again when that is over: prints what came of each.
    ///
    /// `port`: where a server answers to 127.0.0.1 and to localhost.
    static func starve(_ port: String) async throws {
        let session = try HTTPSession()
        // What is made with the first request of a process is there then.
        print(try await session.get(HTTP.Target("http://127.0.0.1:\(port)/first"), as: .string).value)
        let hoard = hoard()
        let target = HTTP.Target("http://localhost:\(port)/named")
        do {
            print(try await session.get(target, as: .string).value)
        } catch let error as NetworkError {
            print("\(error.code): \(error.underlying.map { "\($0)" } ?? "-")")
        }
        for descriptor in hoard { close(descriptor) }
        print(try await session.get(target, as: .string).value)
        await session.shutdown()
    }

    private static func hoard() -> [Int32] {
        var limit = rlimit(rlim_cur: 64, rlim_max: 64)
        guard setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { exit(3) }
        var hoard: [Int32] = []
        while true {
            let descriptor = Glibc.open("/dev/null", O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { return hoard }
            hoard.append(descriptor)
        }
    }

    /// Does a little of everything with 0 to 2 closed, and writes into `report` where one of them was found open.
    static func goWithout(_ base: String, _ file: String, _ report: String) async throws {
        // Swift's own executor has descriptors too, made when it first has to do with time: not those to look for.
        await withCheckedContinuation { continuation in
            DispatchQueue.main.asyncAfter(deadline: .now() + .milliseconds(1)) { continuation.resume() }
        }
        for descriptor: Int32 in 0...2 { close(descriptor) }
        var text = ""
        func look(_ when: String) {
            for descriptor in openForUse() { text += "\(when): \(descriptor)\n" }
        }
        do {
            let session = try HTTPSession(.init(baseURL: base))
            // With the loops of the process, and what wakes them.
            for descriptor in open() { text += "a session: \(descriptor)\n" }
            _ = try await session.get("small", as: .bytes)
            look("an idle connection")
            try await session.withResponse(from: "large") { response in
                for try await _ in response.body {
                    look("a stream")
                    break
                }
            }
            for await _ in Reachability.shared.paths {
                look("a listener to the network")
                break
            }
            let found = Mutex<Set<String>>([])
            let looks = Atomic(0)
            _ = try await session.download("slow", to: .file(file)) { _ in
                looks.add(1, ordering: .relaxed)
                found.withLock { $0.formUnion(openForUse()) }
            }
            if looks.load(ordering: .relaxed) == 0 { text += "a download: nobody looked\n" }
            for descriptor in found.withLock({ $0 }) { text += "a download: \(descriptor)\n" }
            _ = try await session.post("small", body: .file(file), as: .bytes)
            look("a file that is sent")
            await session.shutdown()
            text += "done\n"
        } catch {
            text += "\(error)\n"
        }
        let descriptor = Glibc.open(report, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        _ = write(descriptor, text, text.utf8.count)
    }

    /// The same without what wakes a thread: from now on those are the executor's, which makes them as it needs them.
    ///
    /// Nor what is there for a moment only: the kernel gives a new file the lowest number, and Dunlin then moves it.
    private static func openForUse() -> [String] {
        var found = found()
        for _ in 0..<50 where !found.isEmpty {
            usleep(2_000)
            let left = Self.found()
            found.removeAll { !left.contains($0) }
        }
        return found
    }

    private static func found() -> [String] { open().filter { !$0.hasSuffix("[eventfd]") } }

    /// Which of 0 to 2 are open, and what they lead to.
    private static func open() -> [String] {
        (0...2).compactMap { descriptor in
            var target = [CChar](repeating: 0, count: 256)
            let count = readlink("/proc/self/fd/\(descriptor)", &target, target.count - 1)
            let name = target.withUnsafeBytes { String(decoding: $0.prefix(max(count, 0)), as: UTF8.self) }
            return count < 0 ? nil : "\(descriptor) \(name)"
        }
    }
}
