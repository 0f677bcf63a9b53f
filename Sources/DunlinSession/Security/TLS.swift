extension HTTPSession {
    /// How connections are secured and which servers are trusted.
    ///
    /// The defaults suit the public web: TLS 1.3 or 1.2, the system's roots, strict certificate checks.
    public struct TLS: Sendable, Hashable {
        public enum Version: Int, Sendable, Hashable, Comparable, CaseIterable {
            case tls12
            case tls13

            public static func < (left: Version, right: Version) -> Bool { left.rawValue < right.rawValue }
        }

        /// A file, or its contents.
        public enum Source: Sendable, Hashable, ExpressibleByStringInterpolation {
            case file(String)
            case bytes(Bytes)

            /// A file's path.
            public init(stringLiteral path: String) {
                self = .file(path)
            }
        }

        /// The authorities that are trusted.
        public enum Roots: Sendable, Hashable {
            /// The system's roots: those that `SSL_CERT_FILE` and `SSL_CERT_DIR` name, or those in the distribution's
            /// usual place. They are read when the process makes its first TLS connection, and shared by its sessions.
            /// If the system has none, that connection fails with an error that says where they were looked for. They
            /// are read again if the files have changed when a connection is secured; this is checked at most once a
            /// second.
            case system
            /// Only these certificates, in DER or PEM, read when the session is created. Each is trusted while it is
            /// valid, whoever signed it: an intermediate needs no root.
            case only([Source])
            /// These in addition to the system's.
            case systemAnd([Source])
        }

        /// Where TLS secrets are written, by which a protocol analyser can read all traffic, and so can anybody who
        /// finds the file.
        public enum KeyLog: Sendable, Hashable {
            case off
            /// The file that `SSLKEYLOGFILE` names, if it is set.
            case environment
            case file(String)
        }

        /// How revoked certificates are detected. Off by default, as in browsers and command-line clients: somebody
        /// must fetch lists and keep them current, and few servers staple.
        public struct Revocation: Sendable, Hashable {
            public enum OCSPStapling: Sendable, Hashable {
                case ignored
                /// An answer is checked if the server sends one. A missing one is an error only if the certificate
                /// promises it (RFC 7633).
                case checkedIfPresent
                case required
            }

            /// Lists of revoked certificates, in DER or PEM, read when the session is created. If there are any, the
            /// issuer of a server's certificate must have a current one.
            public var lists: [Source] = []
            /// Whether all authorities on the path must have a list, too.
            public var coversAuthorities = false
            /// **Lowers security.** Whether issuers without a list are trusted.
            public var allowsMissingLists = false
            /// How to treat an OCSP answer that the server sends in the handshake.
            public var stapling = OCSPStapling.ignored

            public init() {}
        }

        public var policy = SecurityPolicy()
        public var roots = Roots.system
        public var revocation = Revocation()
        public var versions: ClosedRange<Version> = .tls12 ... .tls13
        /// The ciphers for TLS 1.2, as an OpenSSL list; nil for Dunlin's, which are forward secret and authenticated.
        public var ciphers: String?
        /// The TLS 1.3 suites, as an OpenSSL list; nil for Dunlin's.
        public var suites: String?
        /// The groups for key exchange, as an OpenSSL list with the preferred one first; nil for Dunlin's:
        /// X25519MLKEM768 if the library has it (OpenSSL 3.5), then X25519.
        public var groups: String?
        /// Our identity, for servers that ask for it.
        public var identity: ClientIdentity?
        public var keyLog = KeyLog.off
        /// Whether a connection may resume the TLS session of an earlier one to the same server, while the path that
        /// was verified then is still valid.
        public var resumesSessions = true

        public init(policy: SecurityPolicy = SecurityPolicy(), roots: Roots = .system) {
            self.policy = policy
            self.roots = roots
        }
    }

    /// A certificate and its private key, for servers that ask for our identity.
    public struct ClientIdentity: Sendable, Hashable {
        package enum Form: Sendable, Hashable {
            /// PEM text with the certificate and those above it if the server needs them; the key is in `key`, or in
            /// the same text if that is nil.
            case pem(TLS.Source, key: TLS.Source?)
            case pkcs12(TLS.Source)
        }

        package var form: Form
        /// The passphrase of the key or the file.
        public var passphrase: String?

        package init(_ form: Form, passphrase: String? = nil) {
            self.form = form
            self.passphrase = passphrase
        }

        public static func pem(
            _ certificates: TLS.Source, key: TLS.Source? = nil, passphrase: String? = nil
        ) -> ClientIdentity {
            ClientIdentity(.pem(certificates, key: key), passphrase: passphrase)
        }

        /// Creates an identity from files.
        public static func pem(_ path: String, key: String? = nil, passphrase: String? = nil) -> ClientIdentity {
            pem(.file(path), key: key.map { .file($0) }, passphrase: passphrase)
        }

        /// Creates an identity from a file.
        public static func pkcs12(_ path: String, passphrase: String? = nil) -> ClientIdentity {
            pkcs12(.file(path), passphrase: passphrase)
        }

        public static func pkcs12(_ source: TLS.Source, passphrase: String? = nil) -> ClientIdentity {
            ClientIdentity(.pkcs12(source), passphrase: passphrase)
        }
    }
}

extension HTTPSession.ClientIdentity: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Shows neither the key nor the passphrase.
    public var description: String { "client identity" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
