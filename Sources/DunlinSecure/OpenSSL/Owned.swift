internal import COpenSSL

/// A reference to an OpenSSL object, released with the last holder.
// SAFETY: only objects that OpenSSL counts with a lock or an atomic and that nobody changes once they are in here:
// contexts, sessions, certificates, keys, stores, revocation lists, method tables.
final class Owned: @unchecked Sendable {
    let pointer: OpaquePointer
    private let release: @Sendable (OpaquePointer) -> Void

    init(_ pointer: OpaquePointer, release: @escaping @Sendable (OpaquePointer) -> Void) {
        self.pointer = pointer
        self.release = release
    }

    deinit {
        release(pointer)
    }
}
