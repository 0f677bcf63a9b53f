internal import COpenSSL
internal import DunlinTypes
internal import Synchronization

/// A client identity in files, read again when one of them changes: certificates are renewed while a session lives.
public final class IdentityFiles: Sendable {
    public enum Paths: Sendable, Hashable {
        /// Certificates, and the key in the same file when `key` is nil.
        case pem(certificates: String, key: String?)
        case pkcs12(String)

        var all: [String] {
            switch self {
            case .pem(let certificates, let key): [certificates] + (key.map { [$0] } ?? [])
            case .pkcs12(let path): [path]
            }
        }
    }

    private struct State {
        var stamps: [FileStamp?]
        var identity: ClientIdentity
        var failure: IdentityError?
    }

    private let paths: Paths
    private let passphrase: String?
    private let state: Mutex<State>

    /// Reads the files. `readsPipes` says whether to wait for whoever writes to one that is a pipe.
    public init(_ paths: Paths, passphrase: String? = nil, readsPipes: Bool = true) throws(IdentityError) {
        self.paths = paths
        self.passphrase = passphrase
        // Looked at before they are read: a change in between is seen the next time.
        let stamps = paths.all.map { FileStamp(path: $0) }
        if !readsPipes { try Self.check(stamps, paths) }
        state = Mutex(State(stamps: stamps, identity: try Self.load(paths, passphrase)))
    }

    /// Returns the identity now in the files. One call of stat for each file tells whether to read. Certificate and key
    /// are seldom replaced in one moment: while they do not match or cannot be read, the previous identity stays,
    /// `failure` says why, and the next change is read again. This takes as long as the disk does.
    public func current() -> ClientIdentity {
        let stamps = paths.all.map { FileStamp(path: $0) }
        if state.withLock({ $0.stamps == stamps }) { return latest }
        do throws(IdentityError) {
            try Self.check(stamps, paths)
            let new = try Self.load(paths, passphrase)
            state.withLock { ($0.stamps, $0.identity, $0.failure) = (stamps, new, nil) }
            return new
        } catch {
            state.withLock { ($0.stamps, $0.failure) = (stamps, error) }
            return latest
        }
    }

    /// Opening a pipe would wait for whoever writes to it.
    private static func check(_ stamps: [FileStamp?], _ paths: Paths) throws(IdentityError) {
        guard let other = zip(paths.all, stamps).first(where: { $1?.isOfRegularFile == false }) else { return }
        throw .cannotRead(path: other.0, "it is not a regular file")
    }

    /// The identity that was read last. It reads no files.
    public var latest: ClientIdentity { state.withLock { $0.identity } }

    /// Why the latest change was not adopted; nil if it was.
    public var failure: IdentityError? { state.withLock { $0.failure } }

    private static func load(_ paths: Paths, _ passphrase: String?) throws(IdentityError) -> ClientIdentity {
        switch paths {
        case .pem(let certificates, let key):
            let pem = try contents(of: certificates)
            let own: Bytes? = if let key { try contents(of: key) } else { nil }
            return try ClientIdentity(pem: pem, key: own, passphrase: passphrase)
        case .pkcs12(let path):
            return try ClientIdentity(pkcs12: contents(of: path), passphrase: passphrase)
        }
    }

    private static func contents(of path: String) throws(IdentityError) -> Bytes {
        OpenSSLErrors.clear()
        defer { OpenSSLErrors.clear() }
        func fault() -> IdentityError { .cannotRead(path: path, OpenSSLErrors.systemWords(OpenSSLErrors.take())) }
        guard let file = BIO_new_file(path, "r") else { throw fault() }
        defer { BIO_free(file) }
        var bytes: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = BIO_read(file, &block, Int32(block.count))
            if count == 0 { return Bytes(bytes) }
            guard count > 0 else { throw fault() }
            guard bytes.count < sizeLimit else { throw .tooLarge(path: path, limit: sizeLimit) }
            bytes += block[..<Int(count)]
        }
    }

    /// The limit of a file's size: no identity is larger, but a device or a log is.
    private static let sizeLimit = 4 * 1024 * 1024
}
