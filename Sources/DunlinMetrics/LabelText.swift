#if Metrics
    /// Text that may be the value of a label.
    enum LabelText {
        /// Whether it is a host, as far as its characters tell.
        static func isHost(_ text: String) -> Bool {
            (1...253).contains(text.utf8.count) && text.utf8.allSatisfy { isNamed($0) || $0 == UInt8(ascii: ":") }
        }

        /// Whether it is a word of a program.
        static func isWord(_ text: String) -> Bool {
            (1...64).contains(text.utf8.count) && text.utf8.allSatisfy(isNamed)
        }

        private static func isNamed(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            default: false
            }
        }

        /// The path of a template. Parameters of segments (`;jsessionid=…`) may contain secrets, so of them only the
        /// names are left. What is no visible ASCII is percent-encoded, and so are quotes and backslashes; after 200
        /// bytes it is cut.
        static func path(_ template: String) -> String {
            var path = ""
            for byte in withoutParameters(template.utf8) {
                let isPlain =
                    (0x21...0x7E).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
                path += isPlain ? String(UnicodeScalar(byte)) : percentEncoded(byte)
                if path.utf8.count >= 200 { return path + "…" }
            }
            return path
        }

        private static func withoutParameters(_ path: String.UTF8View) -> [UInt8] {
            let segments = path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map { segment in
                let parts = segment.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
                let names = parts.dropFirst().map { part in
                    part.firstIndex(of: UInt8(ascii: "=")).map { part[...$0] + Array("REDACTED".utf8)[...] } ?? part
                }
                return Array((parts.prefix(1) + names).joined(separator: [UInt8(ascii: ";")]))
            }
            return Array(segments.joined(separator: [UInt8(ascii: "/")]))
        }

        private static func percentEncoded(_ byte: UInt8) -> String {
            let digits = String(byte, radix: 16, uppercase: true)
            return byte < 16 ? "%0\(digits)" : "%\(digits)"
        }
    }
#endif
