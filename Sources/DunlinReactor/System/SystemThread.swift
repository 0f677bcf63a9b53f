internal import CEpoll
internal import Glibc

/// A detached POSIX thread that runs one closure.
public enum SystemThread {
    public typealias Body = @Sendable () -> Void

    /// Starts a thread; `name` is cut to the 15 bytes the kernel keeps.
    public static func start(name: String, _ body: @escaping Body) throws(Errno) {
        let box = UnsafeMutablePointer<Body>.allocate(capacity: 1)
        box.initialize(to: {
            dunlin_name_this_thread(name)
            body()
        })
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        defer { pthread_attr_destroy(&attributes) }
        var thread = pthread_t()
        let code = pthread_create(
            &thread, &attributes,
            { context in
                guard let box = context?.assumingMemoryBound(to: Body.self) else { return nil }
                let body = box.move()
                box.deallocate()
                body()
                return nil
            }, box)
        guard code == 0 else {
            box.deinitialize(count: 1)
            box.deallocate()
            throw Errno(rawValue: code)
        }
    }
}
