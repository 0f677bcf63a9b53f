/// What both sides agreed on for compressed messages: permessage-deflate (RFC 7692 §7).
package struct WebSocketDeflate: Sendable, Hashable {
    /// Whether a message of ours may refer to those before it.
    package var clientKeepsContext = true
    /// Whether a message of the server's may.
    package var serverKeepsContext = true
    /// The size of the windows, as powers of two.
    package var clientWindowBits = 15
    package var serverWindowBits = 15

    package init() {}

    /// zlib cannot deflate without a header in a window of 8 bits, though it can inflate what was.
    package static let clientWindows = 9...15
    package static let serverWindows = 8...15

    static let name = "permessage-deflate"
}

extension WebSocketDeflate {
    /// What the client asks for. The server may decline the extension, or agree and restrict it further.
    package struct Offer: Sendable, Hashable {
        /// The client will not refer to earlier messages.
        package var clientNoContextTakeover = false
        /// The server must not.
        package var serverNoContextTakeover = false
        /// The client will not use a larger window. If nil, any that the server wants.
        package var clientMaxWindowBits: Int?
        /// The server must not use a larger window.
        package var serverMaxWindowBits: Int?

        package init() {}

        /// The offer as an element of the field. That the client's window can be restricted is always said.
        package var element: WebSocketExtension {
            var element = WebSocketExtension(name)
            if serverNoContextTakeover { element.parameters.append(.init(Parameter.serverNoContextTakeover)) }
            if clientNoContextTakeover { element.parameters.append(.init(Parameter.clientNoContextTakeover)) }
            if let serverMaxWindowBits {
                let bits = min(max(serverMaxWindowBits, serverWindows.lowerBound), serverWindows.upperBound)
                element.parameters.append(.init(Parameter.serverMaxWindowBits, "\(bits)"))
            }
            element.parameters.append(.init(Parameter.clientMaxWindowBits, clientBits.map { "\($0)" }))
            return element
        }

        private var clientBits: Int? {
            clientMaxWindowBits.map { min(max($0, clientWindows.lowerBound), clientWindows.upperBound) }
        }
    }

    private enum Parameter {
        static let serverNoContextTakeover = "server_no_context_takeover"
        static let clientNoContextTakeover = "client_no_context_takeover"
        static let serverMaxWindowBits = "server_max_window_bits"
        static let clientMaxWindowBits = "client_max_window_bits"
    }
}

extension WebSocketDeflate.Offer {
    private typealias Parameter = WebSocketDeflate.Parameter

    /// What is agreed on by the server's answer to this offer; nil if the answer is not one to it (RFC 7692 §7.1).
    ///
    /// Each parameter may occur once, with a value if it takes one. What was asked of the server must be granted, and
    /// may be granted unasked.
    package func agreement(with answer: [WebSocketExtension.Parameter]) -> WebSocketDeflate? {
        var agreed = WebSocketDeflate()
        agreed.clientKeepsContext = !clientNoContextTakeover
        agreed.clientWindowBits = clientBits ?? agreed.clientWindowBits
        var seen: Set<String> = []
        for parameter in answer {
            guard seen.insert(parameter.name).inserted, apply(parameter, to: &agreed) else { return nil }
        }
        let grantsContext = !serverNoContextTakeover || !agreed.serverKeepsContext
        let grantsWindow = serverMaxWindowBits == nil || seen.contains(Parameter.serverMaxWindowBits)
        return grantsContext && grantsWindow ? agreed : nil
    }

    /// Returns false for a parameter that the server may not send.
    private func apply(_ parameter: WebSocketExtension.Parameter, to agreed: inout WebSocketDeflate) -> Bool {
        switch (parameter.name, parameter.value) {
        case (Parameter.serverNoContextTakeover, nil): agreed.serverKeepsContext = false
        case (Parameter.clientNoContextTakeover, nil): agreed.clientKeepsContext = false
        case (Parameter.serverMaxWindowBits, let value?):
            let most = max(serverMaxWindowBits ?? .max, WebSocketDeflate.serverWindows.lowerBound)
            guard let bits = Self.bits(value), bits <= most else { return false }
            agreed.serverWindowBits = bits
        case (Parameter.clientMaxWindowBits, let value?):
            guard let bits = Self.bits(value), WebSocketDeflate.clientWindows.contains(bits) else { return false }
            agreed.clientWindowBits = min(agreed.clientWindowBits, bits)
        default: return false
        }
        return true
    }

    /// A number from 8 to 15 without zeros before it.
    private static func bits(_ text: String) -> Int? {
        guard text.utf8.first != UInt8(ascii: "0"), text.utf8.allSatisfy(Octets.isDigit), let bits = Int(text) else {
            return nil
        }
        return WebSocketDeflate.serverWindows.contains(bits) ? bits : nil
    }
}
