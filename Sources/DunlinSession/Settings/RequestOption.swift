/// One option of a request, and what becomes of it.
///
/// `all` is the only list of them. From it is read what a call's options add over others, what a journal saves, what
/// says who asks, and which requests are sent as one. Each is declared with its documentation in `Options`.
package struct RequestOption: Sendable {
    package typealias Options = HTTPSession.Options

    /// What an option says of the request, as `Access` has it.
    package enum Meaning: Sendable {
        /// Who asks.
        case user
        /// Which way it goes: another origin is reached by it, too.
        case route
        /// Under which terms it is sent.
        case terms
        case nothing
    }

    /// Whether requests with the option are sent as one with others.
    enum Sharing: Sendable {
        /// Whatever others say: it matters to the caller alone.
        case always
        /// With those that say the same.
        case alike
        /// With those that are sent alike: what is sent shows it, and is compared.
        case sent
        case never
    }

    package let name: String
    package let meaning: Meaning
    let sharing: Sharing
    /// Whether options say it: they have another value than the usual one.
    let isSet: @Sendable (Options) -> Bool
    let isSame: @Sendable (Options, Options) -> Bool
    /// Sets it in other options as these say it.
    let lay: @Sendable (Options, inout Options) -> Void
    /// Whether a journal saves the value of options that say it; nil if a later process does not need it.
    let isSaved: @Sendable (Options) -> Bool?
    let write: @Sendable (Options, inout KeyedEncodingContainer<SettingsKey>) throws -> Void
    let read: @Sendable (KeyedDecodingContainer<SettingsKey>, inout Options) throws -> Void

    /// Creates an option whose values are compared by `isSame`, and of which a call's adds to another's by `laid`.
    private init<Value: Sendable>(
        _ name: String, _ path: any WritableKeyPath<Options, Value> & Sendable, _ meaning: Meaning, _ sharing: Sharing,
        _ form: SavedOptions.Form<Value>?, isSame: @escaping @Sendable (Value, Value) -> Bool,
        laid: @escaping @Sendable (_ own: Value, _ former: Value) -> Value = { own, _ in own }
    ) {
        (self.name, self.meaning, self.sharing) = (name, meaning, sharing)
        let (key, usual) = (SettingsKey(name), Options()[keyPath: path])
        isSet = { !isSame($0[keyPath: path], usual) }
        self.isSame = { isSame($0[keyPath: path], $1[keyPath: path]) }
        lay = { $1[keyPath: path] = laid($0[keyPath: path], $1[keyPath: path]) }
        isSaved = { form?.isSaved($0[keyPath: path]) }
        write = { options, container in try form?.write(options[keyPath: path], &container, key) }
        read = { container, options in
            guard let form, container.contains(key) else { return }
            options[keyPath: path] = try form.read(container, key)
        }
    }

    private init<Value: Sendable & Equatable>(
        _ name: String, _ path: any WritableKeyPath<Options, Value> & Sendable, _ meaning: Meaning, _ sharing: Sharing,
        _ form: SavedOptions.Form<Value>?,
        laid: @escaping @Sendable (_ own: Value, _ former: Value) -> Value = { own, _ in own }
    ) {
        self.init(name, path, meaning, sharing, form, isSame: ==, laid: laid)
    }
}

// MARK: - The list

extension RequestOption {
    /// Every option, once: its name and place, what it says of who asks, with which requests it is shared, and what a
    /// journal does with it, which is nothing where the process that resumes a transfer has its own.
    package static let all: [RequestOption] = [
        RequestOption("fields", \.fields, .user, .sent, .fields) { $1.overlaid(with: $0) },
        RequestOption("timeouts", \.timeouts, .nothing, .alike, .timeouts) { $0.laid(over: $1) },
        RequestOption("bodyLimit", \.bodyLimit, .nothing, .always, nil),
        RequestOption("validatesResponse", \.validatesResponse, .nothing, .always, .saved),
        RequestOption("decodesContent", \.decodesContent, .nothing, .sent, .saved),
        RequestOption("priority", \.priority, .nothing, .always, nil),
        RequestOption("expectsContinue", \.expectsContinue, .nothing, .always, nil),
        RequestOption("continueTimeout", \.continueTimeout, .nothing, .always, nil),
        RequestOption("hostOverrides", \.hostOverrides, .route, .never, .refused),
        RequestOption("sockets", \.sockets, .route, .never, .refused),
        RequestOption("interfaces", \.interfaces, .route, .never, .refused),
        // Guard and redirects are saved, because the process that resumes the transfer may have a session that lets
        // requests go further.
        RequestOption("guard", \.guard, .terms, .never, .choice()),
        RequestOption("proxy", \.proxy, .route, .never, .refused, isSame: { $0.isSession && $1.isSession }),
        RequestOption("cacheMode", \.cacheMode, .nothing, .alike, .choice()),
        RequestOption("coalesces", \.coalesces, .nothing, .never, nil),
        RequestOption("waitsForConnectivity", \.waitsForConnectivity, .nothing, .alike, nil),
        RequestOption(
            "authenticationHandler", \.authenticationHandler, .user, .never, .refused,
            isSame: { $0 == nil && $1 == nil }),
        RequestOption("redirects", \.redirects, .nothing, .always, .redirects),
        RequestOption("retry", \.retry, .nothing, .always, nil),
        RequestOption("credentials", \.credentials, .user, .sent, .credentials),
        RequestOption("handlesCookies", \.handlesCookies, .user, .alike, .choice()),
        RequestOption("errorBodyLimit", \.errorBodyLimit, .nothing, .always, nil),
        RequestOption("hooks", \.hooks, .nothing, .always, nil, isSame: { !$0.isSet && !$1.isSet }),
        RequestOption("label", \.label, .nothing, .always, .saved),
        RequestOption("operation", \.operation, .nothing, .always, .saved),
        RequestOption("tags", \.tags, .nothing, .always, nil),
        RequestOption("startsAfter", \.startsAfter, .nothing, .always, nil),
        RequestOption("begun", \.begun, .nothing, .always, nil, isSame: { $0 == nil && $1 == nil }),
        RequestOption("keepsProvenance", \.keepsProvenance, .nothing, .always, nil),
        RequestOption("oldestStored", \.oldestStored, .nothing, .always, nil),
        RequestOption("upgrade", \.upgrade, .nothing, .never, nil),
    ]
}

extension HTTPSession.Options {
    /// These options, and for each that is the session's or the usual one here, what `former` says. Fields and time
    /// limits are taken one by one; hooks are one option.
    package func laid(over former: Self) -> Self {
        var laid = former
        for option in RequestOption.all where option.isSet(self) { option.lay(self, &laid) }
        return laid
    }

    /// Whether a request may be sent as one with others that are sent alike.
    var isShared: Bool { rare == nil || !RequestOption.all.contains { $0.sharing == .never && $0.isSet(self) } }
}
