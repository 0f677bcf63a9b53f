#if Logging
    /// Text of programs and peers, made fit for a line of a log: short, without control characters, and without the
    /// parts of an address that may be secret.
    enum LogText {
        private static let longest = 200

        /// The text with what would change the look of a line escaped, up to a limit of scalars.
        static func visible(_ text: String, upTo limit: Int = longest) -> String {
            if text.utf8.count <= limit, text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) { return text }
            var shown = ""
            for (index, scalar) in text.unicodeScalars.enumerated() {
                if index == limit { return shown + "…" }
                if isVisible(scalar) {
                    shown.unicodeScalars.append(scalar)
                } else {
                    shown += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
                }
            }
            return shown
        }

        private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
            default: !scalar.properties.isDefaultIgnorableCodePoint
            }
        }

        /// The path of a URL or of a relative target. Query, fragment, scheme, host and user info are left out, and a
        /// segment that may hold a secret is shown as `***`.
        static func path(of target: String) -> String {
            let segments = splitAddress(target).path.split(separator: slash, omittingEmptySubsequences: false)
            let shown = segments.map { isPlain($0) ? String(decoding: $0, as: UTF8.self) : "***" }
            return visible(shown.joined(separator: "/"))
        }

        /// The host of a URL, and its port.
        static func host(of url: String) -> (host: String, port: UInt16)? {
            let (scheme, authority, _) = splitAddress(url)
            guard let authority else { return nil }
            let address = authority.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false).last ?? []
            let end = address.lastIndex(of: UInt8(ascii: "]")) ?? address.startIndex
            let colon = address[end...].lastIndex(of: UInt8(ascii: ":"))
            let host = String(decoding: address[..<(colon ?? address.endIndex)], as: UTF8.self)
            let port = colon.flatMap { UInt16(String(decoding: address[($0 + 1)...], as: UTF8.self)) }
            let unbracketed = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
            return (visible(unbracketed), port ?? (scheme == "http" ? 80 : 443))
        }

        private static let slash = UInt8(ascii: "/")

        /// Scheme, authority and path of a URL; the text is all path if it has no scheme. Bytes are compared, since a
        /// mark joins the character before it, and so could hide a `?`.
        private static func splitAddress(
            _ text: String
        ) -> (scheme: String?, authority: ArraySlice<UInt8>?, path: ArraySlice<UInt8>) {
            let bytes = Array(text.utf8)
            let end = bytes.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? bytes.endIndex
            let address = bytes[..<end]
            guard let first = address.firstIndex(of: slash), address[first...].starts(with: "//".utf8),
                first == 0 || address[first - 1] == UInt8(ascii: ":")
            else { return (nil, nil, address) }
            let start = first + 2
            let path = address[start...].firstIndex(of: slash) ?? address.endIndex
            let scheme = first == 0 ? nil : String(decoding: address[..<(first - 1)], as: UTF8.self).lowercased()
            return (scheme, address[start..<path], address[path...])
        }

        /// Whether a segment is a name and nothing else: no parameter such as `;jsessionid=`, no query in disguise, and
        /// no user info of a URL within the URL, percent-encoded or not.
        private static func isPlain(_ segment: ArraySlice<UInt8>) -> Bool {
            let decoded = decoded(segment)
            if decoded.contains(where: { "=;&?#\"".utf8.contains($0) }) { return false }
            // What is encoded twice is a value for somebody else.
            if decoded.contains(UInt8(ascii: "%")), decoded.count < segment.count { return false }
            guard let at = decoded.lastIndex(of: UInt8(ascii: "@")) else { return true }
            return !decoded[..<at].contains(UInt8(ascii: ":"))
        }

        private static func decoded(_ segment: ArraySlice<UInt8>) -> [UInt8] {
            var decoded: [UInt8] = []
            var rest = segment
            while let byte = rest.popFirst() {
                let digits = String(decoding: rest.prefix(2), as: UTF8.self)
                if byte == UInt8(ascii: "%"), digits.utf8.count == 2, let value = UInt8(digits, radix: 16) {
                    decoded.append(value)
                    rest = rest.dropFirst(2)
                } else {
                    decoded.append(byte)
                }
            }
            return decoded
        }
    }
#endif
