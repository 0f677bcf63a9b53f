internal import DunlinSemantics

extension HTTPSession: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The base URL without user info, and whether the session accepts requests.
    public var description: String {
        let base = configuration.baseURL.map { [WebAddress.shown($0)] } ?? []
        return "HTTPSession(\((base + (isShutDown ? ["shut down"] : [])).joined(separator: ", ")))"
    }

    public var debugDescription: String { description }

    /// Shows only the configuration: other properties contain secrets in many forms, such as fields ready to be sent.
    public var customMirror: Mirror {
        Mirror(self, children: ["configuration": configuration, "isShutDown": isShutDown], displayStyle: .class)
    }
}

extension HTTPSession.RequestTask: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The request's ID.
    public var description: String { "RequestTask(\(id))" }

    public var debugDescription: String { description }

    public var customMirror: Mirror { Mirror(self, children: ["id": id], displayStyle: .class) }
}

extension HTTP.Target: CustomDebugStringConvertible, CustomReflectable {
    /// The target without user info. There is no `description`, so that no target becomes a segment of another by
    /// mistake.
    public var debugDescription: String { WebAddress.shown(text).debugDescription }

    public var customMirror: Mirror {
        Mirror(
            self, children: ["text": WebAddress.shown(text), "template": WebAddress.shown(template)],
            displayStyle: .struct)
    }
}
