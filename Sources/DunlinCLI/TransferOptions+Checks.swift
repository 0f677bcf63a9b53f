import Dunlin
import DunlinCommandLine
import DunlinDisplay
import DunlinTypes

extension TransferOptions {
    /// Throws for secrets that two servers would get, and for pins of more than one server.
    func checkOrigins(_ urls: [String]) throws(UsageError) {
        let request = get.request
        let bound =
            [
                ("--user", request.user != nil), ("--bearer", request.bearer != nil),
                ("--pin", !get.trust.pins.isEmpty),
                ("-b", request.fields.contains("cookie")),
            ]
            + request.fields.map { ("-H \($0.name)", HTTP.SecretFields.usual.mayContain($0.name)) }
        guard let option = bound.first(where: \.1)?.0 else { return }
        let origins = urls.map { TrustOptions.origin(of: $0, ["http", "https"])?.lowercased() ?? $0 }
        guard let first = origins.first, let other = origins.first(where: { $0 != first }) else { return }
        throw UsageError(description: "\(option) is for one server, and the URLs name two: \(first) and \(other)")
    }

    /// Throws for options that do not fit together.
    func check(download urls: [String]) throws(UsageError) {
        try checkShared(urls)
        if urls.isEmpty, list == nil {
            throw UsageError(description: "download needs a URL, or -i FILE with a list; see dunlin help download")
        }
        if get.request.httpMethod == .head { throw UsageError(description: "a HEAD request has no body to download") }
        let isSingle = urls.count == 1 && list == nil
        if let file = get.file {
            guard isSingle else { throw UsageError(description: "-o names one file, and there may be several") }
            guard file != "-", case .file = OutputTarget(file) else {
                throw UsageError(description: "download writes regular files only; without it -o \(file) is written to")
            }
        }
        if digest != nil, !isSingle {
            throw UsageError(description: "--sha256 is for one file; in a list, sha256:HEX follows the URL")
        }
        if list == "-", get.request.bearer == .input {
            throw UsageError(description: "standard input can be read once; it is asked for twice")
        }
    }

    /// Throws for options that do not fit together.
    func check(upload files: [String], to url: String) throws(UsageError) {
        try checkShared([url])
        let isForm = !get.request.form.isEmpty
        if files.isEmpty, !isForm {
            throw UsageError(description: "upload needs a file before the URL; - is standard input")
        }
        if files.contains("-"), isForm || files.count > 1 {
            throw UsageError(description: "standard input can be sent alone only; in a form it is -F NAME=<-")
        }
        if files.count > 1, !isForm, !url.hasSuffix("/") {
            throw UsageError(description: "several files need a URL that ends with a slash, or -F for a form")
        }
        if get.request.asksHeadOnly || get.request.putsDataInURL {
            throw UsageError(description: "-I and -G send no body, and upload does")
        }
        if files.count > 1, !isForm { try checkNames(of: files) }
    }

    /// Of two files with one name, one would be lost.
    private func checkNames(of files: [String]) throws(UsageError) {
        var known: [ExactText: String] = [:]
        for file in files {
            let name = String(file.parts(at: UInt8(ascii: "/")).last { !$0.isEmpty } ?? "")
            guard let other = known.updateValue(file, forKey: ExactText(name)) else { continue }
            throw UsageError(description: "\(other) and \(file) would both be sent as \(name); send them one by one")
        }
    }

    func checkShared(_ urls: [String]) throws(UsageError) {
        for url in urls { try get.trust.check(against: url) }
        try get.request.check()
        try get.route.check()
        try checkOrigins(urls)
    }

    /// Has what is said meanwhile stand above the bars.
    func tell(on display: TerminalDisplay?, _ configuration: inout HTTPSession.Configuration) {
        guard let display else { return }
        configuration.securityWarningHandler = { display.print("dunlin: warning: \($0)") }
        guard configuration.hooks.retrying != nil else { return }
        configuration.hooks.retrying = { _, retry in
            display.print("dunlin: \(retry.cause); trying again in \(retry.wait.readable)")
        }
    }
}
