internal import Dunlin

extension HAR {
    /// What looks like a secret by its form, in words: in which entry, and where in it.
    package var secrets: [String] {
        entries.enumerated().flatMap { index, entry in
            entry.texts.compactMap { place, text in
                SecretScan.find(in: text).map { "entry \(index + 1), \(entry.name): \(place) has \($0)" }
            }
        }
    }
}

extension HAR.Entry {
    /// The request in a few words, for errors.
    var name: String { "\(request.method) \(request.url)" }

    /// All texts that may hold a secret, with where they stand.
    fileprivate var texts: [(place: String, text: String)] {
        var texts = [("its URL", request.url)]
        texts += request.headers.map { ("its field \($0.name)", $0.value) }
        texts += response.headers.map { ("the response's field \($0.name)", $0.value) }
        for head in interim ?? [] { texts += head.headers.map { ("an interim response's field \($0.name)", $0.value) } }
        texts.append(("the response's reason", response.statusText ?? ""))
        for cookie in (request.cookies ?? []) + (response.cookies ?? []) {
            let parts = [cookie.name, cookie.value, cookie.path ?? "", cookie.domain ?? ""]
            texts.append(("a cookie", parts.joined(separator: " ")))
        }
        if let bytes = request.postData?.bytes { texts.append(("its body", String(bytes))) }
        if let bytes = response.content.bytes { texts.append(("the response's body", String(bytes))) }
        return texts
    }
}
