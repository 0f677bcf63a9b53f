internal import COpenSSL
package import DunlinTypes

/// The files and folders in which a system keeps the roots that it trusts.
///
/// If `SSL_CERT_FILE` or `SSL_CERT_DIR` is set, everything that they name is used, and nothing else. Otherwise the
/// first existing bundle is used, or the first folder if there is none.
package struct SystemRoots: Sendable, Hashable {
    package var files: [String]
    package var folders: [String]
    /// Whether all of them are used, or only the first that contains a root.
    var takesAll: Bool

    package init(files: [String], folders: [String], takesAll: Bool = false) {
        self.files = files
        self.folders = folders
        self.takesAll = takesAll
    }

    /// Creates the value from the environment's variables, or with the paths of the usual distributions.
    package init(certificateFile: String?, certificateFolders: String?) {
        let file = certificateFile.flatMap { $0.isEmpty ? nil : $0 }
        let folders = certificateFolders?.split(separator: ":").map(String.init) ?? []
        if file == nil, folders.isEmpty {
            self.init(files: Self.usualFiles, folders: Self.usualFolders)
        } else {
            self.init(files: file.map { [$0] } ?? [], folders: folders, takesAll: true)
        }
    }

    private static let usualFiles = [
        // Debian, Ubuntu, Arch, Gentoo, Alpine
        "/etc/ssl/certs/ca-certificates.crt",
        // Fedora, RHEL 7 and later
        "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
        // Older Fedora and RHEL, Amazon Linux
        "/etc/pki/tls/certs/ca-bundle.crt",
        // openSUSE
        "/etc/ssl/ca-bundle.pem",
        "/var/lib/ca-certificates/ca-bundle.pem",
        // OpenELEC
        "/etc/pki/tls/cacert.pem",
        // Alpine, and OpenSSL's own path
        "/etc/ssl/cert.pem",
        "/usr/local/share/certs/ca-root-nss.crt",
    ]
    private static let usualFolders = ["/etc/ssl/certs", "/etc/pki/tls/certs", "/system/etc/security/cacerts"]

    /// The certificates that were found, and the files and folders they depend on.
    struct Reading {
        /// The roots, each once; OpenSSL can read the first of them.
        var roots: [TrustStore.Root] = []
        /// The stamps from before the reading, so that a change in between shows next time. Nil for a missing file.
        var stamps: [String: FileStamp?] = [:]
        private var files: Set<FileStamp> = []
        private var known: Set<Bytes> = []

        fileprivate mutating func look(at path: String) -> FileStamp? {
            let stamp = FileStamp(path: path)
            stamps[path] = .some(stamp)
            return stamp
        }

        /// Returns the roots in these files that were not in earlier ones. Folders name a certificate several times: by
        /// its name, by its hash, and in the bundle.
        fileprivate mutating func newRoots(in paths: [String]) -> [TrustStore.Root] {
            var roots: [TrustStore.Root] = []
            for path in paths {
                guard let file = look(at: path), files.insert(file).inserted,
                    let contents = SystemRoots.contents(of: path)
                else { continue }
                for der in CertificateFile.encoded(in: contents) where known.insert(der).inserted {
                    if let root = TrustStore.Root(der: der) { roots.append(root) }
                }
            }
            return roots
        }
    }

    /// Reads the roots. Throws if there is none that can be read.
    func read() throws(NetworkError.TrustConfigurationError) -> Reading {
        var reading = Reading()
        for file in files where takesAll || reading.roots.isEmpty { read([file], into: &reading) }
        for folder in folders where takesAll || reading.roots.isEmpty {
            _ = reading.look(at: folder)
            read(Self.entries(of: folder), into: &reading)
        }
        if reading.roots.isEmpty { throw .noSystemRoots(lookedAt: files + folders) }
        return reading
    }

    /// Adds the roots of some files, from the first that OpenSSL can read. Files without one count as missing.
    private func read(_ paths: [String], into reading: inout Reading) {
        reading.roots += reading.newRoots(in: paths).drop { !$0.canBeRead }
    }

    /// Returns the files in a folder, in order.
    private static func entries(of folder: String) -> [String] {
        guard let store = OSSL_STORE_open(folder, nil, nil, nil, nil) else {
            OpenSSLErrors.clear()
            return []
        }
        defer { OSSL_STORE_close(store) }
        var names: [String] = []
        while OSSL_STORE_eof(store) == 0, OSSL_STORE_error(store) == 0 {
            guard let info = OSSL_STORE_load(store) else { continue }
            defer { OSSL_STORE_INFO_free(info) }
            guard OSSL_STORE_INFO_get_type(info) == OSSL_STORE_INFO_NAME, let name = OSSL_STORE_INFO_get0_NAME(info)
            else { return [] }
            names.append(String(cString: name))
        }
        OpenSSLErrors.clear()
        return names.sorted()
    }

    /// Returns a file's contents, cut off beyond the length of any bundle; nil if it cannot be read.
    package static func contents(of path: String) -> Bytes? {
        guard let bio = BIO_new_file(path, "rb") else {
            OpenSSLErrors.clear()
            return nil
        }
        defer { BIO_free(bio) }
        var bytes: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 65_536)
        while bytes.count < 64 << 20, case let count = BIO_read(bio, &block, Int32(block.count)), count > 0 {
            bytes += block[..<Int(count)]
        }
        OpenSSLErrors.clear()
        return Bytes(bytes)
    }
}
