import DunlinTypes
import Synchronization
import Testing

@testable import DunlinCodecs

@Suite(.timeLimit(.minutes(10))) struct `Where pictures are decoded` {
    /// Counts the jobs that it is given, and has the default pool run them.
    private final class CountingExecutor: TaskExecutor {
        let jobs = Atomic(0)

        func enqueue(_ job: consuming ExecutorJob) {
            jobs.add(1, ordering: .relaxed)
            let job = UnownedJob(job)
            Task.detached { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
        }
    }

    private static func executor() -> UnownedTaskExecutor? { withUnsafeCurrentTask { $0?.unownedTaskExecutor } }

    @Test func `work leaves the executor that its caller prefers, and comes back`() async throws {
        let executor = CountingExecutor()
        try await withTaskExecutorPreference(executor) { @concurrent in
            #expect(Self.executor() == executor.asUnownedTaskExecutor())
            let jobs = executor.jobs.load(ordering: .relaxed)
            try await Work.onDefaultPool {
                #expect(Self.executor() != executor.asUnownedTaskExecutor())
                for _ in 0..<100 { await Task.yield() }
            }
            #expect(executor.jobs.load(ordering: .relaxed) - jobs == 1)
            #expect(Self.executor() == executor.asUnownedTaskExecutor())
        }
    }

    @Test func `pictures are decoded, resized and encoded for callers who prefer an executor`() async throws {
        let executor = CountingExecutor()
        let picture = try #require(Pictures.buffer(Pictures.pixel))
        try await withTaskExecutorPreference(executor) { @concurrent in
            let bytes = try await ImageEncoder().png(picture)
            #expect(try await ImageDecoder().decode(bytes).isExactly(Pictures.pixel))
            for try await frame in ImageDecoder().frames(of: bytes) { #expect(frame.picture.isExactly(Pictures.pixel)) }
            _ = try await picture.resized(to: ImageSize(width: 3, height: 3))
            _ = try await ImageEncoder().jpeg(picture)
        }
        // In, and back from each of the six.
        #expect(executor.jobs.load(ordering: .relaxed) <= 7)
    }
}
