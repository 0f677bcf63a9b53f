internal import COpenSSL

/// OpenSSL's view of the wire: it reads straight from the ciphertext that the caller holds, and appends to the array
/// that the caller will send. Nothing is kept in between, and there is no descriptor.
enum EngineBIO {
    /// The table of functions, created once and never freed.
    private static let method: Owned? = {
        guard let method = BIO_meth_new(BIO_TYPE_SOURCE_SINK | BIO_get_new_index(), "dunlin") else { return nil }
        BIO_meth_set_read(method) { bio, target, count in read(bio, target, count) }
        BIO_meth_set_write(method) { bio, source, count in write(bio, source, count) }
        BIO_meth_set_ctrl(method) { _, command, _, _ in command == BIO_CTRL_FLUSH ? 1 : 0 }
        return Owned(method) { BIO_meth_free($0) }
    }()

    /// A BIO over `state`, which must live longer.
    static func make(over state: UnsafeMutablePointer<EngineState>) -> OpaquePointer? {
        guard let method, let bio = BIO_new(method.pointer) else { return nil }
        BIO_set_data(bio, state)
        BIO_set_init(bio, 1)
        return bio
    }

    /// Reads ciphertext. Minus one without a retry is a failure, which stops a flood in the middle of a call.
    private static func read(_ bio: OpaquePointer?, _ target: UnsafeMutablePointer<CChar>?, _ count: Int32) -> Int32 {
        guard let state = state(of: bio), let target, count > 0 else { return -1 }
        dunlin_bio_clear_retry(bio)
        if state.pointee.isFlooded { return -1 }
        let input = state.pointee.input
        let taken = min(Int(count), input.count)
        guard taken > 0, let source = input.baseAddress else {
            dunlin_bio_retry_read(bio)
            return -1
        }
        UnsafeMutableRawPointer(target).copyMemory(from: source, byteCount: taken)
        state.pointee.input = UnsafeRawBufferPointer(rebasing: input[taken...])
        return Int32(truncatingIfNeeded: taken)
    }

    private static func write(_ bio: OpaquePointer?, _ source: UnsafePointer<CChar>?, _ count: Int32) -> Int32 {
        guard let state = state(of: bio), let source, count > 0 else { return -1 }
        dunlin_bio_clear_retry(bio)
        state.pointee.output.append(contentsOf: UnsafeRawBufferPointer(start: source, count: Int(count)))
        return count
    }

    private static func state(of bio: OpaquePointer?) -> UnsafeMutablePointer<EngineState>? {
        bio.flatMap { BIO_get_data($0) }?.assumingMemoryBound(to: EngineState.self)
    }
}
