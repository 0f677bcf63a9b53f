extension HTTPSession {
    /// How connections are secured and which servers are trusted.
    ///
    /// The defaults are what the public web needs: TLS 1.3 or 1.2, the system's roots, strict certificates.
    public struct TLS: Sendable, Hashable {
        public enum Version: Int, Sendable, Hashable, Comparable, CaseIterable {
            case tls12
            case tls13

            public static func < (left: Version, right: Version) -> Bool { left.rawValue < right.rawValue }
        }

        /// Where something is read from: a file, or its contents.
        public enum Source: Sendable, Hashable, ExpressibleByStringInterpolation {
            case file(String)
            case bytes(Bytes)

            /// A file's path.
            public init(stringLiteral path: String) {
                self = .file(path)
            }
        }

        /// The authorities that are trusted by themselves.
        public enum Roots: Sendable, Hashable {
            /// The system's roots: those that `SSL_CERT_FILE` and `SSL_CERT_DIR` name, or those in the usual place of
            /// the distribution. They are read when the process makes its first TLS connection, and shared by its
            /// sessions. On a system without any, that connection fails with an error that says where they were looked
            /// for. If the files have changed when a connection is secured, they are read again; they are checked at
            /// most once a second.
            case system
            /// These and no others: certificates, DER or PEM, read when the session is made. Each is trusted, whoever
            /// signed it, as long as it is valid: an intermediate needs no root beside it.
            case only([Source])
            /// These as well as the system's.
            case systemAnd([Source])
        }

        /// Where secrets are written by which a protocol analyser can read everything. So can whoever finds the file.
        public enum KeyLog: Sendable, Hashable {
            case off
            /// The file that `SSLKEYLOGFILE` names, if it names one.
            case environment
            case file(String)
        }

        /// How revoked certificates are found. Off by default, as in browsers and command-line clients: lists must be
        /// fetched and kept fresh by somebody, and few servers staple.
        public struct Revocation: Sendable, Hashable {
            public enum OCSPStapling: Sendable, Hashable {
                case ignored
                /// An answer is checked if the server sends one. Its absence is an error only if the certificate
                /// promises it (RFC 7633).
                case checkedIfPresent
                case required
            }

            /// Lists of revoked certificates, DER or PEM, read when the session is made. If there are any, the issuer
            /// of a server's certificate must have a current one.
            public var lists: [Source] = []
            /// Whether all authorities of the path must have a list too.
            public var coversAuthorities = false
            /// **Lowers security.** Whether issuers without a list are trusted.
            public var allowsMissingLists = false
            /// What to do with an OCSP answer that the server sends in the handshake.
            public var stapling = OCSPStapling.ignored

            public init() {}
        }

        public var policy = SecurityPolicy()
        public var roots = Roots.system
        public var revocation = Revocation()
        public var versions: ClosedRange<Version> = .tls12 ... .tls13
        /// OpenSSL's list of ciphers for TLS 1.2; nil for ours, which are forward secret and authenticated.
        public var ciphers: String?
        /// OpenSSL's list of TLS 1.3 suites; nil for ours.
        public var suites: String?
        /// OpenSSL's list of groups for key exchange, the preferred first; nil for ours:
        /// X25519MLKEM768 where the library has it (OpenSSL 3.5), then X25519.
        public var groups: String?
        /// Our identity, for servers that ask for it.
        public var identity: ClientIdentity?
        public var keyLog = KeyLog.off
        /// Whether a later connection to a server may resume the TLS session of an earlier one, as long as the path
        /// that was verified then is still valid.
        public var resumesSessions = true

        public init(policy: SecurityPolicy = SecurityPolicy(), roots: Roots = .system) {
            self.policy = policy
            self.roots = roots
        }
    }

    /// A certificate and its private key, for servers that ask for our identity.
    public struct ClientIdentity: Sendable, Hashable {
        package enum Form: Sendable, Hashable {
            /// The certificate, those above it if the server needs them, and the key, which is in the same text if
            /// `key` is nil.
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

        /// From files.
        public static func pem(_ path: String, key: String? = nil, passphrase: String? = nil) -> ClientIdentity {
            pem(.file(path), key: key.map { .file($0) }, passphrase: passphrase)
        }

        /// From a file.
        public static func pkcs12(_ path: String, passphrase: String? = nil) -> ClientIdentity {
            pkcs12(.file(path), passphrase: passphrase)
        }

        public static func pkcs12(_ source: TLS.Source, passphrase: String? = nil) -> ClientIdentity {
            ClientIdentity(.pkcs12(source), passphrase: passphrase)
        }
    }
}

extension HTTPSession.ClientIdentity: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Shows nothing of the key or the passphrase.
    public var description: String { "client identity" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
