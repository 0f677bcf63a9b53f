#if HTTPTypes
    package import Dunlin

    /// What `:path` and `:authority` may contain. Both are raw text, in which whoever wrote it could put more than an
    /// address: another line, another host, a password. What is not allowed is refused and never repaired, so that what
    /// is sent is what was written.
    ///
    /// It knows characters only; whether a host exists, and what a path means, is for others.
    package enum RequestText {
        /// Why the text is no path with a query in origin form (RFC 9112 §3.2.1); nil if it is one.
        package static func problem(inPath path: String) -> String? {
            guard let first = path.utf8.first else { return "is empty" }
            guard first == UInt8(ascii: "/") else {
                return path.contains("://") ? "is a whole URL, and not a path" : "does not begin with a slash"
            }
            return problem(inPart: path) ?? (hasDots(path) ? "has a segment of dots, which leads elsewhere" : nil)
        }

        private static func problem(inPart text: String) -> String? {
            let bytes = Array(text.utf8)
            for (index, byte) in bytes.enumerated() {
                switch byte {
                case 0x20: return "has a blank"
                case ..<0x20, 0x7F: return "has a control character"
                case UInt8(ascii: "#"): return "has a fragment"
                case UInt8(ascii: "%"):
                    guard index + 2 < bytes.count, isHex(bytes[index + 1]), isHex(bytes[index + 2]) else {
                        return "has a % without two hexadecimal digits after it"
                    }
                case _ where !isOfURL(byte): return "has a character that must be percent-encoded"
                default: continue
                }
            }
            return nil
        }

        /// Whether a server may read a segment of the path as `.` or `..`: some decode an escaped dot, and some ignore
        /// a segment's parameters (RFC 3986 §3.3).
        private static func hasDots(_ path: String) -> Bool {
            let segments = path.prefix { $0 != "?" }.split(separator: "/")
            return segments.contains { segment in
                let name = segment.prefix { $0 != ";" }.lowercased()
                let plain = name.split(separator: "%2e", omittingEmptySubsequences: false).joined(separator: ".")
                return plain == "." || plain == ".."
            }
        }

        private static func isHex(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
                UInt8(ascii: "A")...UInt8(ascii: "F"):
                true
            default: false
            }
        }

        private static func isAlphanumeric(_ byte: UInt8) -> Bool {
            isHex(byte) || UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte
                || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
        }

        /// Whether RFC 3986 allows the character in a path or a query.
        private static func isOfURL(_ byte: UInt8) -> Bool {
            isAlphanumeric(byte) || "-._~!$&'()*+,;=:@/?".utf8.contains(byte)
        }
    }

    extension RequestText {
        /// A host and a port, as `:authority` and Host write them.
        package struct Authority: Hashable {
            /// In lower case, with the brackets of an IPv6 address.
            package var host: String
            /// Nil if it is not written.
            package var port: UInt16?

            package init(host: String, port: UInt16?) {
                self.host = host
                self.port = port
            }

            /// The same with the port that the scheme implies.
            package func explicit(_ scheme: HTTP.Origin.Scheme) -> Authority {
                Authority(host: host, port: port ?? scheme.defaultPort)
            }

            package var unbracketed: String { host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host }
        }

        /// Reads `host` or `host:port`. `name` is what errors call the text, which they do not show: it may hold a
        /// password.
        package static func authority(_ text: String, name: String) throws -> Authority {
            func refusal(_ problem: String) -> NetworkError { Refusal.request("\(name) \(problem)") }
            if text.isEmpty { throw refusal("is empty") }
            for byte in text.utf8 {
                switch byte {
                case 0x20: throw refusal("has a blank")
                case ..<0x20, 0x7F: throw refusal("has a control character")
                case 0x80...: throw refusal("has a character outside ASCII; write the host as xn--")
                case UInt8(ascii: "@"): throw refusal("has user info; pass credentials to the session or the request")
                case UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: "\\"):
                    throw refusal("has more than a host and a port")
                default: continue
                }
            }
            guard let (host, port) = split(text) else { throw refusal("is no host") }
            guard let port else { return Authority(host: host.lowercased(), port: nil) }
            guard port.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }), let number = UInt16(port),
                number > 0
            else { throw refusal("has an impossible port") }
            return Authority(host: host.lowercased(), port: number)
        }

        /// The host, and the text after its colon; nil if the host is none.
        private static func split(_ text: String) -> (host: Substring, port: Substring?)? {
            let end: String.Index
            if text.utf8.first == UInt8(ascii: "[") {
                guard let closing = text.firstIndex(of: "]") else { return nil }
                end = text.index(after: closing)
                let address = text[..<end].dropFirst().dropLast()
                let isAddress = address.utf8.allSatisfy {
                    isHex($0) || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".")
                }
                guard address.contains(":"), isAddress else { return nil }
            } else {
                end = text.firstIndex(of: ":") ?? text.endIndex
                let isName = text[..<end].utf8.allSatisfy { isAlphanumeric($0) || "-._~".utf8.contains($0) }
                guard !text[..<end].isEmpty, isName else { return nil }
            }
            let rest = text[end...]
            if rest.isEmpty { return (text[..<end], nil) }
            return rest.first == ":" ? (text[..<end], rest.dropFirst()) : nil
        }
    }
#endif
