/// A job of a loop: of a task that prefers the loop, or of an actor that is pinned to it.
enum LoopJob {
    case task(UnownedJob)
    case isolated(UnownedJob)
}

/// Jobs in order of arrival, in storage that is reused: once it has grown, neither end allocates.
struct JobRing {
    private var storage: [LoopJob?] = Array(repeating: nil, count: 64)
    private var head = 0
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    mutating func append(_ job: LoopJob) {
        if count == storage.count { grow() }
        storage[(head + count) & (storage.count - 1)] = job
        count += 1
    }

    mutating func popFirst() -> LoopJob? {
        guard count > 0 else { return nil }
        let job = storage[head]
        head = (head + 1) & (storage.count - 1)
        count -= 1
        return job
    }

    private mutating func grow() {
        var larger = [LoopJob?](repeating: nil, count: storage.count * 2)
        for offset in 0..<count { larger[offset] = storage[(head + offset) & (storage.count - 1)] }
        storage = larger
        head = 0
    }
}
