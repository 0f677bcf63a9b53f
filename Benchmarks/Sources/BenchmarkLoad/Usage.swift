import CMalloc
import Glibc

/// What the process has used so far.
@usableFromInline struct Usage {
    let resources: rusage
    let nanoseconds: UInt64
    let residentKilobytes: Int
    /// Bytes that were allocated and not freed.
    let heap: Int

    @usableFromInline static var now: Usage {
        var resources = rusage()
        let resident = kilobytes("VmRSS:")
        let memory = mallinfo2()
        getrusage(RUSAGE_SELF.rawValue, &resources)
        return Usage(
            resources: resources, nanoseconds: nanoseconds, residentKilobytes: resident,
            heap: Int(memory.uordblks + memory.hblkhd))
    }

    @usableFromInline static var nanoseconds: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// The one line of JSON every client prints; `nanoseconds` holds one entry per request.
    @usableFromInline func report(
        since start: Usage, nanoseconds times: [UInt32], decoding: Double?
    ) -> String {
        // VmHWM and not `ru_maxrss`: the latter remembers the process that forked us.
        let peak = Self.kilobytes("VmHWM:")
        var times = times
        let requests = times.count
        let user = microseconds(from: start.resources.ru_utime, to: resources.ru_utime) / Double(requests)
        let system = microseconds(from: start.resources.ru_stime, to: resources.ru_stime) / Double(requests)
        let slowest = Double(times.rank(requests * 99 / 100)) / 1e3
        let decoder = decoding.map { ",\"decoder_us\":\($0 / Double(requests))" } ?? ""
        let median = Double(times.rank(requests / 2)) / 1e3
        return """
            {"requests":\(requests),"seconds":\(Double(nanoseconds - start.nanoseconds) / 1e9),\
            "user_us":\(user),"sys_us":\(system),"p50_us":\(median),"p99_us":\(slowest),"rss_kb":\(peak),\
            "start_kb":\(start.residentKilobytes),"end_kb":\(residentKilobytes),\
            "heap_grown":\(heap - start.heap)\(decoder)}
            """
    }

    private func microseconds(from start: timeval, to end: timeval) -> Double {
        Double(end.tv_sec - start.tv_sec) * 1e6 + Double(end.tv_usec - start.tv_usec)
    }

    private static func kilobytes(_ name: String) -> Int {
        guard let file = fopen("/proc/self/status", "r") else { return 0 }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, Int32(line.count), file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            if text.hasPrefix(name) { return Int(text.filter(\.isNumber)) ?? 0 }
        }
        return 0
    }
}

extension [UInt32] {
    /// What would stand at `index` were it sorted; moves the others about. Sorting all would count among the
    /// instructions that a request costs.
    fileprivate mutating func rank(_ index: Int) -> UInt32 {
        var (low, high) = (0, count - 1)
        while low < high {
            let pivot = self[(low + high) / 2]
            var (left, right) = (low, high)
            while left <= right {
                while self[left] < pivot { left += 1 }
                while self[right] > pivot { right -= 1 }
                guard left <= right else { break }
                swapAt(left, right)
                (left, right) = (left + 1, right - 1)
            }
            if index <= right { high = right } else if index >= left { low = left } else { break }
        }
        return self[index]
    }
}
