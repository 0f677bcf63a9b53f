import Glibc

/// What the process has used so far.
@usableFromInline struct Usage {
    let resources: rusage
    let nanoseconds: UInt64
    let residentKilobytes: Int

    @usableFromInline static var now: Usage {
        var resources = rusage()
        let resident = kilobytes("VmRSS:")
        getrusage(RUSAGE_SELF.rawValue, &resources)
        return Usage(resources: resources, nanoseconds: nanoseconds, residentKilobytes: resident)
    }

    @usableFromInline static var nanoseconds: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// The one line of JSON every client prints; `nanoseconds` holds one entry per request.
    @usableFromInline func report(since start: Usage, nanoseconds times: [UInt32]) -> String {
        // VmHWM and not `ru_maxrss`: the latter remembers the process that forked us.
        let peak = Self.kilobytes("VmHWM:")
        let sorted = times.sorted()
        let requests = sorted.count
        let user = microseconds(from: start.resources.ru_utime, to: resources.ru_utime) / Double(requests)
        let system = microseconds(from: start.resources.ru_stime, to: resources.ru_stime) / Double(requests)
        let median = Double(sorted[requests / 2]) / 1e3
        let slowest = Double(sorted[requests * 99 / 100]) / 1e3
        return """
            {"requests":\(requests),"seconds":\(Double(nanoseconds - start.nanoseconds) / 1e9),\
            "user_us":\(user),"sys_us":\(system),"p50_us":\(median),"p99_us":\(slowest),"rss_kb":\(peak),\
            "start_kb":\(start.residentKilobytes),"end_kb":\(residentKilobytes)}
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
