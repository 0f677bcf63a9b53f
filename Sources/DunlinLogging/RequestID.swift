#if Logging
    internal import Dunlin
    internal import Logging

    /// Ids of requests: passed on from a peer if they are harmless, and random otherwise.
    enum RequestID {
        private static let longest = 64

        /// Whether ids may be sent in a field with this name: it must be a name, not that of a secret, and none that
        /// observers may not add.
        static func isUsableField(_ name: String, _ secret: HTTP.SecretFields) -> Bool {
            !name.isEmpty && name.utf8.count <= longest && !secret.mayContain(name)
                && !HTTPSession.Exchange.isReserved(name)
                && name.utf8.allSatisfy { isLetterOrDigit($0) || "!#$%&'*+-.^_`|~".utf8.contains($0) }
        }

        /// The id, if it is short and has no character that means something in a field or in a line of a log.
        static func valid(_ id: String) -> String? {
            let isValid =
                !id.isEmpty && id.utf8.count <= longest
                && id.utf8.allSatisfy { isLetterOrDigit($0) || "-._~:+/=".utf8.contains($0) }
            return isValid ? id : nil
        }

        /// The id under the first of these keys that has a valid one.
        static func passedOn(in metadata: Logger.Metadata, under keys: [String]) -> String? {
            for key in keys {
                let id: String? =
                    switch metadata[key] {
                    case .string(let text): valid(text)
                    case .stringConvertible(let value): valid(value.description)
                    default: nil
                    }
                if let id { return id }
            }
            return nil
        }

        static func random() -> String {
            var generator = SystemRandomNumberGenerator()
            return (0..<2).map { _ in
                let digits = String(generator.next(), radix: 16)
                return String(repeating: "0", count: 16 - digits.count) + digits
            }.joined()
        }

        private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: false
            }
        }
    }
#endif
