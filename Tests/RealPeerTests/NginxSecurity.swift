import Dunlin
import DunlinTesting

extension Nginx {
    /// How an nginx speaks TLS.
    struct Security {
        enum Version: String, CaseIterable, Sendable {
            case v1_2 = "TLSv1.2"
            case v1_3 = "TLSv1.3"

            /// As Dunlin tells it.
            var name: String { self == .v1_2 ? "TLS 1.2" : "TLS 1.3" }
        }

        /// What lets a session be resumed.
        enum Memory: CaseIterable, Sendable {
            /// The client keeps it, encrypted for the server.
            case tickets
            /// The server keeps it.
            case cache
            case none

            var directives: String {
                switch self {
                case .tickets: "ssl_session_tickets on; ssl_session_cache none;"
                case .cache: "ssl_session_tickets off; ssl_session_cache shared:tls:1m;"
                case .none: "ssl_session_tickets off; ssl_session_cache off;"
                }
            }
        }

        /// What is asked of clients, as nginx calls it.
        enum Clients: String, Sendable {
            case off
            case required = "on"
            case optional
            /// Whoever issued the certificate.
            case anybody = "optional_no_ca"
        }

        var identity: IssuedCertificate
        var version = Version.v1_3
        var memory = Memory.tickets
        var clients = Clients.off
        /// Who may have issued a client's certificate.
        var clientAuthority: CertificateAuthority?
        /// OpenSSL's names, with colons between them.
        var groups: String?
        /// Whether HTTP/2 is spoken with clients that offer it.
        var speaksHTTP2 = false
        /// An OCSP response, for clients that ask.
        var staple: Bytes?

        init(_ identity: IssuedCertificate, _ version: Version = .v1_3) {
            self.identity = identity
            self.version = version
        }

        var directives: String {
            var lines = [
                "ssl_certificate chain.pem; ssl_certificate_key key.pem;", "ssl_protocols \(version.rawValue);",
                memory.directives, "ssl_verify_client \(clients.rawValue);",
            ]
            if clientAuthority != nil { lines.append("ssl_client_certificate clients.pem;") }
            if staple != nil { lines.append("ssl_stapling on; ssl_stapling_file staple.der;") }
            if let groups { lines.append("ssl_ecdh_curve \(groups);") }
            return lines.joined(separator: "\n")
        }

        /// What the directives name.
        var files: [String: Bytes] {
            get throws {
                var files = ["chain.pem": Bytes(identity.chainPEM), "key.pem": Bytes(try identity.privateKeyPEM)]
                if let clientAuthority { files["clients.pem"] = Bytes(clientAuthority.pem) }
                files["staple.der"] = staple
                return files
            }
        }
    }
}
