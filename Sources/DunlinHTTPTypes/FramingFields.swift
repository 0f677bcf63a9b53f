#if HTTPTypes
    import Dunlin

    /// Fields that say how a message is framed or where it goes. These must not contradict what the message says
    /// elsewhere.
    enum FramingFields {
        /// Checks a request's fields. Returns them without Host, which `authority` replaces.
        static func checked(
            _ fields: Fields, against authority: RequestText.Authority?, _ scheme: HTTP.Origin.Scheme?
        ) throws -> Fields {
            if fields.contains("transfer-encoding") {
                throw Refusal.request("Transfer-Encoding is for the session to write: leave it out")
            }
            if let problem = lengthProblem(fields) { throw Refusal.request(problem) }
            let hosts = fields.values(of: "host")
            if hosts.isEmpty { return fields }
            guard let authority else { throw Refusal.request("there is a Host, but no :authority") }
            guard hosts.count == 1 else { throw Refusal.request("there are several Hosts") }
            let host = try RequestText.authority(hosts[0], name: "Host")
            let isSame = scheme.map { host.explicit($0) == authority.explicit($0) } ?? (host == authority)
            guard isSame else { throw Refusal.request("Host is not the same as :authority") }
            var others = fields
            others.remove("host")
            return others
        }

        /// Checks a response's fields: two lengths, or a length beside Transfer-Encoding, would let two readers see two
        /// different messages (RFC 9112 §6.3).
        static func check(response fields: Fields) throws {
            if let problem = lengthProblem(fields) { throw Refusal.response(problem) }
            if fields.contains("transfer-encoding"), fields.contains("content-length") {
                throw Refusal.response("there are both Transfer-Encoding and Content-Length")
            }
        }

        private static func lengthProblem(_ fields: Fields) -> String? {
            let lengths = fields.values(of: "content-length")
            if lengths.count > 1 { return "there are several Content-Lengths" }
            guard let length = lengths.first else { return nil }
            let isNumber = length.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
            return isNumber && Int(length) != nil ? nil : "Content-Length is no number"
        }
    }
#endif
