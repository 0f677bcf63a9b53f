import Glibc

/// Waits on the fuzzer's thread for what runs on the default pool.
func waiting<Value: Sendable>(for work: @Sendable @escaping () async -> Value) -> Value? {
    let outcome = Outcome<Value>()
    Task.detached {
        outcome.value = await work()
        sem_post(outcome.ended)
    }
    while sem_wait(outcome.ended) != 0 {}
    return outcome.value
}

/// SAFETY: `value` is written before the semaphore is posted, and read after it was waited for.
private final class Outcome<Value: Sendable>: @unchecked Sendable {
    let ended = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
    var value: Value?

    init() {
        sem_init(ended, 0, 0)
    }

    deinit {
        sem_destroy(ended)
        ended.deallocate()
    }
}
